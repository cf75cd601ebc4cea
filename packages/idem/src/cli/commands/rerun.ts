// idem rerun: a person asks for a new run from an old one, from the start, with other data or from one of its steps.
import { actOnMany, bulkOptions, bulkUsage, isBulk } from "../bulk-runs.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";

export const rerun: Command = {
  name: "rerun",
  summary: "start a new run from an old one, past its id and key, with the same destination keys",
  usage: `<run id> [--data <json>] [--from <step> [--input <json>]] | ${bulkUsage}`,
  words: { min: 0, max: 1 },
  options: {
    from: { value: "step", help: "keep what was recorded before this step and run it and the rest again" },
    data: {
      value: "json",
      help: "a JSON object: instead of the event's data, from the start; it must give the same key",
    },
    input: { value: "json", help: "a JSON list: arguments for that step's callback instead of its own" },
    reason: { value: "text", help: "with --where: why; kept in the store's audit" },
    ...bulkOptions,
    ...serverOptions,
  },
  details: [
    "A step is named by the id in its code; the n-th repeat of an id is written id:n. `idem run <run id>` lists the steps.",
    "With --data the run is about the same thing under the same keys: what a destination still remembers, or an effect has recorded, is not done again with the other data.",
    "Only step.run hands arguments to its callback, so only its input can be edited.",
    "With --where every run that fits is rerun once; one whose key a later run stands for is left out. `--dry-run` counts and says why.",
  ],
  examples: [
    "idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    "idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD --from charge-card",
    "idem rerun --where true --function charge --state failed --since 1h --dry-run",
    `idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD --data '{"order":7,"mail":"kim@example.org"}'`,
    `idem rerun 01JZZ4Q8X5T2M7N0B6E3R9V1KD --from charge-card --input '[{"amount":4280}]'`,
  ],
  async run(context) {
    if (isBulk(context)) return actOnMany(context, "rerun");
    const runId = context.words[0]!;
    const { from } = context.options;
    const input = readInput(context);
    const data = readData(context);
    const request = {
      runId,
      ...(from === undefined ? {} : { fromStep: from }),
      ...(input === undefined ? {} : { input }),
      ...(data === undefined ? {} : { data }),
    };
    const answer = await context.write((ask) => ask("rerun", context.env, request));
    if (context.isJson) context.json(answer);
    else {
      const how = from !== undefined ? ` from step ${from} on` : data !== undefined ? " with other data" : "";
      context.say(`run ${answer.runId} reruns ${runId}${how}`);
      if (data !== undefined) context.say("its function key and destination keys are those of the first");
    }
    return 0;
  },
};

function readData({ options }: Context): object | undefined {
  const { data, from } = options;
  if (data === undefined) return undefined;
  if (from !== undefined)
    throw usage("--data begins at the start: what is kept before a step was made of the old data.");
  const value = readJson(data, "--data");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usage(`--data must be a JSON object, as the event's data is: '{"order":7}'.`);
  return value;
}

function readInput({ options }: Context): unknown[] | undefined {
  const { input, from } = options;
  if (input === undefined) return undefined;
  if (from === undefined) throw usage("--input belongs to a step: say which with --from.");
  const value = readJson(input, "--input");
  if (!Array.isArray(value)) throw usage(`--input must be a JSON list, one entry per argument: '[{"amount":4280}]'.`);
  return value;
}

function readJson(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${option} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
