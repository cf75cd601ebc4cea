// idem cancel: after the answer no new attempt of the run starts.
import { type Command, storeOptions } from "../command.ts";
import { exitCodes } from "../exit.ts";

export const cancel: Command = {
  name: "cancel",
  summary: "end a run that has not ended",
  usage: "<run id> [--reason <text>]",
  words: { min: 1, max: 1 },
  options: { reason: { value: "text", help: "kept as the run's error" }, ...storeOptions },
  examples: ['idem cancel 01JZZ4Q8X5T2M7N0B6E3R9V1KD --reason "ordered by mistake"'],
  async run(context) {
    const runId = context.words[0]!;
    const reason = context.options.reason ?? "cancelled from the command line";
    const answer = await context.write((ask) => ask("cancel", context.env, { runId, reason }));
    if (context.isJson) context.json(answer);
    else if (answer.cancelled) context.say(`run ${runId} is cancelled`);
    else context.remark(`Run ${runId} had already ended; nothing was changed.`);
    return answer.cancelled ? exitCodes.ok : exitCodes.failed;
  },
};
