// idem keys: keys with their holders, ends and askings; and giving one back by hand.
import { type Claim, eventScope, functionScope, isTaken, webhookScope } from "../../model/claim.ts";
import { functionKey } from "../claim-key.ts";
import { type Command, type Context, countOption, type Reading, serverOptions } from "../command.ts";
import { exitCodes, failed, usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { when } from "../times.ts";

export const keys: Command = {
  name: "keys",
  summary: "list taken keys, or give one back before its window ends",
  usage: `[--function <id> | --scope <scope>] [--limit <50>] | --release <key> (--function <id> | --scope <scope>) --reason <text>`,
  words: { min: 0, max: 0 },
  options: {
    function: { value: "id", help: "keys of this function" },
    scope: { value: "scope", help: 'keys of this scope; "event" for the ids of events' },
    limit: { value: "50", help: "how many, up to 1000" },
    release: { value: "key", help: "give this key back: the next asker starts a new run" },
    reason: { value: "text", help: "why; kept in the store's audit" },
    ...serverOptions,
  },
  details: [
    "ASKED counts how often a key was asked for, the first time included: everything above 1 is a duplicate it answered.",
    "A released key keeps its destination keys, so a payment made under it is still recognised by the payment provider.",
  ],
  examples: [
    "idem keys --function draft-invoice",
    "idem keys --scope event",
    'idem keys --release 7 --function draft-invoice --reason "invoice was deleted by hand"',
  ],
  async run(context) {
    const { function: name, scope, release, reason } = context.options;
    if (name !== undefined && scope !== undefined) throw usage("Give --function or --scope, not both.");
    if (release === undefined) {
      if (reason !== undefined) throw usage("--reason belongs to --release.");
      return context.read((reading) => list(context, reading));
    }
    if (name === undefined && scope === undefined) {
      throw usage(
        "A key is unique inside its function only: say --release <key> with --function <id> or --scope <scope>.",
      );
    }
    if (reason === undefined || reason.trim() === "") {
      throw usage("Say why with --reason: whoever finds two runs for one key will look for it.");
    }
    const claim = await context.read((reading) => findClaim(reading, release));
    const answer = await context.write((ask) =>
      ask("release", context.env, { scope: claim.scope, key: claim.key, reason }),
    );
    if (context.isJson) context.json({ scope: claim.scope, key: claim.key, ...answer });
    else context.say(`key ${printable(claim.key)} of ${claim.scope} is ${answer.answer}`);
    return answer.answer === "released" ? exitCodes.ok : exitCodes.failed;

    async function findClaim(reading: Reading, typed: string): Promise<Claim> {
      const where = scope ?? functionScope(reading.slugOf(name!));
      const key = name === undefined ? typed : await functionKey(reading, reading.slugOf(name), typed);
      const found = await reading.reads.claim(context.env, where, key);
      if (found === null) {
        throw failed(
          `Nobody has the key ${printable(key)} in ${where}: it was never taken, or its window has ended. idem keys lists what is taken.`,
        );
      }
      return found;
    }
  },
};

async function list(context: Context, reading: Reading): Promise<number> {
  const { function: name, scope } = context.options;
  const limit = countOption(context, "limit", 50, 1_000);
  const where = scope ?? (name === undefined ? undefined : functionScope(reading.slugOf(name)));
  const claims = await reading.reads.claims(context.env, where === undefined ? { limit } : { limit, scope: where });
  const now = context.now();
  if (context.isJson) {
    context.json(claims.map((claim) => ({ ...claim, isOpen: isTaken(claim, now) })));
    return exitCodes.ok;
  }
  if (claims.length === 0) {
    context.remark("No keys are taken.");
    return exitCodes.ok;
  }
  const { io, paint } = context;
  io.out.write(
    table(
      [
        { title: "SCOPE", shrinks: true },
        { title: "KEY", shrinks: true },
        { title: "STATE" },
        { title: "HOLDER" },
        { title: "ASKED", align: "right", paint: (cell, row) => (claims[row]!.asked > 1 ? paint.yellow(cell) : cell) },
        { title: "TAKEN", shrinks: true, drops: true },
        { title: "WINDOW ENDS", shrinks: true },
      ],
      claims.map((claim) => [
        printable(
          claim.scope === eventScope
            ? "event id"
            : claim.scope === webhookScope
              ? "webhook id"
              : claim.scope.startsWith("fn:")
                ? reading.nameOf(claim.scope.slice(3))
                : claim.scope,
        ),
        printable(claim.key),
        isTaken(claim, now) ? claim.state : claim.state === "released" ? "released" : "window over",
        printable(claim.holder),
        String(claim.asked),
        when(claim.takenAt, now),
        claim.held ? `with its run, not before ${when(claim.endsAt, now)}` : when(claim.endsAt, now),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
  if (claims.length === limit) context.remark("There may be more: --limit, --function and --scope narrow the list.");
  return exitCodes.ok;
}
