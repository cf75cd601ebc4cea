// idem release: a paused or held event starts what it would have started, a parked run goes on.
import { actOnMany, bulkOptions, bulkUsage, isBulk } from "../bulk-runs.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { decideEvent } from "../decide-event.ts";
import { exitCodes, usage } from "../exit.ts";

export const release: Command = {
  name: "release",
  summary: "let a parked run go on, or a paused or held event start what it would have started",
  usage: `(<run id or event id> [--function <id>] | [--keys] ${bulkUsage}) [--reason <text>]`,
  words: { min: 0, max: 1 },
  options: {
    ...bulkOptions,
    function: {
      value: "id",
      help: "of an event: for this function; needed when it waits for several. With --where: only its runs",
    },
    keys: { help: "with --where: give back the keys that ended runs hold, instead of letting parked runs go on" },
    reason: { value: "text", help: "why; kept in the store's audit" },
    ...serverOptions,
  },
  details: [
    "A parked run goes on where it was, and what it was entered without an outcome is counted from the start. `idem runs --state parked`",
    "lists them, `idem run <id>` says why one is parked.",
    "An event is released also while its function is still paused. Keys and limits count as for any event: a key that was taken",
    "meanwhile makes it a duplicate. An event held because its key is missing starts without one. `idem events --pending` lists what waits.",
  ],
  examples: [
    'idem release --where true --state parked --function resize --reason "more memory"',
    'idem release 01JZZ4Q8X5T2M7N0B6E3R9V1KD --reason "the image library was updated"',
    'idem release order-paid-7 --function draft-invoice --reason "looked into it"',
  ],
  async run(context) {
    const isKeys = context.flags.has("keys");
    if (isBulk(context)) return actOnMany(context, isKeys ? "release-keys" : "release");
    if (isKeys) throw usage("--keys belongs to --where; one key is given back by idem keys --release.");
    const id = context.words[0]!;
    const run = await context.read(({ reads }) => reads.run(context.env, id));
    return run === null ? decideEvent(context, "release") : releaseRun(context, id);
  },
};

async function releaseRun(context: Context, runId: string): Promise<number> {
  const { reason = "" } = context.options;
  const answer = await context.write((ask) => ask("releaseRun", context.env, { runId, reason }));
  if (context.isJson) context.json(answer);
  else if (answer.released) context.say(`run ${runId} goes on`);
  else context.remark(`Run ${runId} is not parked; nothing was changed.`);
  return answer.released ? exitCodes.ok : exitCodes.failed;
}
