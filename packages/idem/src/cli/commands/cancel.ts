// idem cancel: after the answer no new attempt of the run starts.
import { actOnMany, bulkOptions, bulkUsage, isBulk } from "../bulk-runs.ts";
import { type Command, serverOptions } from "../command.ts";
import { exitCodes } from "../exit.ts";

export const cancel: Command = {
  name: "cancel",
  summary: "end a run that has not ended",
  usage: `(<run id> | ${bulkUsage}) [--reason <text>]`,
  words: { min: 0, max: 1 },
  options: { reason: { value: "text", help: "kept as the run's error" }, ...bulkOptions, ...serverOptions },
  examples: [
    "idem cancel --where 'event.data.trial == true' --function remind --dry-run",
    'idem cancel 01JZZ4Q8X5T2M7N0B6E3R9V1KD --reason "ordered by mistake"',
  ],
  async run(context) {
    if (isBulk(context)) return actOnMany(context, "cancel");
    const runId = context.words[0]!;
    const reason = context.options.reason ?? "cancelled from the command line";
    const answer = await context.write((ask) => ask("cancel", context.env, { runId, reason }));
    if (context.isJson) context.json(answer);
    else if (answer.cancelled) context.say(`run ${runId} is cancelled`);
    else context.remark(`Run ${runId} had already ended; nothing was changed.`);
    return answer.cancelled ? exitCodes.ok : exitCodes.failed;
  },
};
