// idem rerun: a person asks for a new run from an old one, from the start or from one of its steps.
import { actOnMany, bulkOptions, bulkUsage, isBulk } from "../bulk-runs.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { usage } from "../exit.ts";

export const rerun: Command = {
  name: "rerun",
  summary: "start a new run from an old one, past its id and key, with the same destination keys",
  usage: `<run id> [--from <step> [--input <json>]] | ${bulkUsage}`,
  words: { min: 0, max: 1 },
  options: {
    from: { value: "step", help: "keep what was recorded before this step and run it and the rest again" },
    input: { value: "json", help: "a JSON list: arguments for that step's callback instead of its own" },
    reason: { value: "text", help: "with --where: why; kept in the store's audit" },
    ...bulkOptions,
    ...storeOptions,
  },
  details: [
    "A step is named by the id in its code; the n-th repeat of an id is written id:n. `idem run <run id>` lists the steps.",
    "Only step.run hands arguments to its callback, so only its input can be edited.",
    "With --where every run that fits is rerun once; one whose key a later run stands for is left out. `--dry-run` counts and says why.",
  ],
  examples: [
    "idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    "idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD --from charge-card",
    "idem rerun --where true --function charge --state failed --since 1h --dry-run",
    `idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD --from charge-card --input '[{"amount":4280}]'`,
  ],
  async run(context) {
    if (isBulk(context)) return actOnMany(context, "rerun");
    const runId = context.words[0]!;
    const { from } = context.options;
    const input = readInput(context);
    const request = {
      runId,
      ...(from === undefined ? {} : { fromStep: from }),
      ...(input === undefined ? {} : { input }),
    };
    const answer = await context.write((ask) => ask("rerun", context.env, request));
    if (context.isJson) context.json(answer);
    else context.say(`run ${answer.runId} reruns ${runId}${from === undefined ? "" : ` from step ${from} on`}`);
    return 0;
  },
};

function readInput({ options }: Context): unknown[] | undefined {
  const { input, from } = options;
  if (input === undefined) return undefined;
  if (from === undefined) throw usage("--input belongs to a step: say which with --from.");
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (error) {
    throw usage(`--input is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!Array.isArray(value)) throw usage(`--input must be a JSON list, one entry per argument: '[{"amount":4280}]'.`);
  return value;
}
