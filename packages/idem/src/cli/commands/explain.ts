// idem explain: why something ran, or did not, or ran twice.

import { errors } from "../../model/errors.ts";
import { fromJson } from "../../model/json.ts";
import { inside } from "../../sdk/inside.ts";
import type { Story } from "../../stories/story.ts";
import { functionKey } from "../claim-key.ts";
import { type Command, type Reading, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { showHits, showStory } from "../show-story.ts";

export const explain: Command = {
  name: "explain",
  summary: "say why something ran, did not run, or ran twice",
  usage: "<id | key | value> [--function <id>] | --function <id> --key <key>",
  words: { min: 0, max: 1 },
  options: {
    function: { value: "id", help: "the function whose key or data it is" },
    key: { value: "key", help: "with --function: the key, as a plain value or as JSON" },
    ...serverOptions,
  },
  details: [
    "Of a run, an event (by the id the store gave it, or by its sender's own), a function's key, or a value in the data of a function without one.",
  ],
  examples: [
    "idem explain order-paid-7",
    "idem explain 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    "idem explain 48213",
    "idem explain --function draft-invoice --key 7",
  ],
  async run(context) {
    const { function: name, key } = context.options;
    const [word] = context.words;
    if ((word === undefined) === (key === undefined) || (key !== undefined && name === undefined)) {
      throw usage(`Give an id, a key or a value, or --function and --key together. Try "idem explain --help".`);
    }
    return context.read(async (reading) => {
      const fn = name === undefined ? undefined : reading.slugOf(name);
      const answer =
        word === undefined
          ? await reading.idem[inside].tell({ q: await functionKey(reading, fn!, key!), as: "key", function: fn })
          : await reading.idem[inside].tell({ q: word, function: fn });
      if (answer.kind === "none") throw errors.SUBJECT_UNKNOWN({ id: (word ?? key)! });
      if (context.isJson) context.json(answer.kind === "several" ? answer : await explained(reading, answer));
      else if (answer.kind === "story") showStory(context, answer, (of) => reading.nameOf(of));
      else {
        context.say(printable(answer.sentence));
        showHits(context, answer.hits, (of) => reading.nameOf(of));
      }
      return 0;
    });
  },
};

/** The answer of `idem.explain` for the same thing; for a value in the data, for the newest run that is about it. */
async function explained(reading: Reading, { subject, things }: Story): Promise<unknown> {
  const { as, id, function: fn } = subject;
  if (as === "key") {
    return reading.idem.explain({ function: fn!, key: fromJson(await functionKey(reading, fn!, id)) });
  }
  return reading.idem.explain(as === "entity" ? things.findLast(({ kind }) => kind === "run")!.id : id);
}
