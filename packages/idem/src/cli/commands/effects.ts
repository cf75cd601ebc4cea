// idem effects: effects of steps on systems outside; those that came out twice; and settling unknown outcomes.
import type { Effect } from "../../model/effect.ts";
import { type Command, type Context, countOption, durationOption, serverOptions } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { when } from "../times.ts";

const thirtyDaysMs = 30 * 24 * 60 * 60_000;

export const effects: Command = {
  name: "effects",
  summary: "list what steps sent to systems outside, or settle one whose outcome is unknown",
  usage:
    "[--destination <name>] [--entity <id>] [--parked | --doubled [--within <30d>]] [--limit <50>] [--after <effect id>] | resolve <effect id> (--receipt <id> [--reason <text>] | --retry)",
  words: { min: 0, max: 2 },
  options: {
    destination: { value: "name", help: "only effects on this system: stripe" },
    entity: { value: "id", help: "only effects for this entity" },
    parked: { help: "only those that are not sent again before a person said what became of them" },
    doubled: { help: "only entities with more than one effect on one system" },
    within: { value: "30d", help: "together with --doubled: no further apart than this" },
    limit: { value: "50", help: "how many, up to 1000" },
    after: { value: "effect id", help: "continue after the last effect of the page before" },
    receipt: { value: "id", help: "with resolve: it happened, and this is what it is called there" },
    retry: { help: "with resolve: nothing had happened; it is sent when its run is rerun" },
    reason: { value: "text", help: "with --receipt: how you know; kept with it" },
    ...serverOptions,
  },
  details: [
    "A parked effect was tried, nobody knows whether it happened, and its destination may have forgotten the key: sent again, it could",
    "happen twice. Look at the destination, say what you found, then `idem rerun <run id> --from <step>`.",
  ],
  examples: [
    "idem effects --parked",
    "idem effects --doubled --within 7d",
    'idem effects resolve stripe:order-7:idem_… --receipt in_1Nq… --reason "found in the dashboard"',
    "idem effects resolve stripe:order-7:idem_… --retry",
  ],
  async run(context) {
    const [word, id] = context.words;
    if (word !== undefined) {
      if (word !== "resolve" || id === undefined)
        throw usage("Say idem effects resolve <effect id>, or no word at all.");
      return resolve(context, id);
    }
    if (context.options.receipt !== undefined || context.flags.has("retry") || context.options.reason !== undefined) {
      throw usage("--receipt, --retry and --reason belong to idem effects resolve <effect id>.");
    }
    if (context.flags.has("doubled")) return doubled(context);
    if (context.options.within !== undefined) throw usage("--within belongs to --doubled.");
    const { destination, entity, after } = context.options;
    const limit = countOption(context, "limit", 50, 1_000);
    const list = await context.read(({ idem }) =>
      idem.effects.list({
        limit,
        ...(destination === undefined ? {} : { destination }),
        ...(entity === undefined ? {} : { entity }),
        ...(after === undefined ? {} : { after }),
        ...(context.flags.has("parked") ? { parked: true } : {}),
      }),
    );
    show(context, list, "No effects.");
    if (!context.isJson && list.length === limit) context.remark(`More: --after ${list.at(-1)!.id}`);
    return exitCodes.ok;
  },
};

async function resolve(context: Context, id: string): Promise<number> {
  const { receipt, reason = "" } = context.options;
  if ((receipt === undefined) === !context.flags.has("retry")) {
    throw usage("Say --receipt <id> if it happened, or --retry if it surely did not.");
  }
  const answer = await context.write((ask) =>
    ask("resolveEffect", context.env, { id, receipt: receipt ?? null, reason }),
  );
  if (context.isJson) context.json(answer);
  else if (answer.state === "sent") context.say(`effect ${id} is settled with receipt ${receipt}`);
  else context.say(`effect ${id} may be sent; rerun its run from the step`);
  return exitCodes.ok;
}

async function doubled(context: Context): Promise<number> {
  if (context.flags.has("parked")) throw usage("Give --parked or --doubled, not both.");
  const within = durationOption(context, "within", thirtyDaysMs);
  const { destination, entity } = context.options;
  const limit = countOption(context, "limit", 50, 1_000);
  const found = await context.read(({ idem }) =>
    idem.effects.doubled({ within, limit, ...(destination === undefined ? {} : { destination }) }),
  );
  const list = found.filter((each) => entity === undefined || each.entity === entity);
  if (context.isJson) context.json(list);
  else
    show(
      context,
      list.flatMap((each) => each.effects),
      "No entity has more than one effect on one system.",
    );
  return exitCodes.ok;
}

function show(context: Context, list: readonly Effect[], none: string): void {
  if (context.isJson) {
    context.json(list);
    return;
  }
  if (list.length === 0) {
    context.remark(none);
    return;
  }
  const { io, paint } = context;
  const now = context.now();
  io.out.write(
    table(
      [
        { title: "DESTINATION" },
        { title: "ENTITY", shrinks: true },
        { title: "STATE", paint: (cell, row) => (list[row]!.state === "parked" ? paint.yellow(cell) : cell) },
        { title: "RECEIPT", shrinks: true },
        { title: "FIRST TRIED", shrinks: true },
        { title: "TRIES", align: "right", drops: true },
        { title: "RUN" },
        { title: "STEP", shrinks: true },
        { title: "ID" },
      ],
      list.map((effect) => [
        printable(effect.destination),
        printable(effect.entity),
        effect.state,
        effect.receipt === null ? "–" : printable(effect.receipt),
        when(effect.firstTriedAt, now),
        String(effect.tries),
        effect.runId,
        printable(effect.step),
        printable(effect.id),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
}
