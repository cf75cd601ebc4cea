// idem rerun: a person asks for a new run from an old one.
import { type Command, storeOptions } from "../command.ts";

export const rerun: Command = {
  name: "rerun",
  summary: "start a new run from an old one, past its id and key, with the same destination keys",
  usage: "<run id>",
  words: { min: 1, max: 1 },
  options: storeOptions,
  examples: ["idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD"],
  async run(context) {
    const answer = await context.write((ask) => ask("rerun", context.env, { runId: context.words[0]! }));
    if (context.isJson) context.json(answer);
    else context.say(`run ${answer.runId} reruns ${context.words[0]}`);
    return 0;
  },
};
