// idem explain: why something ran, or why it did not.
import { fromJson } from "../../model/json.ts";
import { functionKey } from "../claim-key.ts";
import { type Command, storeOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { printable } from "../printable.ts";

export const explain: Command = {
  name: "explain",
  summary: "say why an event ran or did not, what a run spared, who has a key",
  usage: "<event id | run id> | --function <id> --key <key>",
  words: { min: 0, max: 1 },
  options: {
    function: { value: "id", help: "together with --key: the function the key belongs to" },
    key: { value: "key", help: "the key, as a plain value or as JSON" },
    ...storeOptions,
  },
  details: ["An event is found by the id the store gave it, or by its sender's own."],
  examples: [
    "idem explain order-paid-7",
    "idem explain 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    "idem explain --function draft-invoice --key 7",
  ],
  async run(context) {
    const { function: name, key } = context.options;
    const [id] = context.words;
    if ((id === undefined) === (name === undefined) || (name === undefined) !== (key === undefined)) {
      throw usage(`Give an event's or run's id, or --function and --key together. Try "idem explain --help".`);
    }
    return context.read(async (reading) => {
      const story =
        id === undefined
          ? await reading.idem.explain({
              function: name!,
              key: fromJson(await functionKey(reading, reading.slugOf(name!), key!)),
            })
          : await reading.idem.explain(id);
      if (context.isJson) context.json(story);
      else for (const sentence of story.summary) context.say(printable(sentence));
      return 0;
    });
  },
};
