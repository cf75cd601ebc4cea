import type { DecisionWords } from "../decision-words.ts";
import { by, forEach, type OptionWords } from "../option-words.ts";
import type { SingletonConfig } from "./config.ts";

export const singletonWords: OptionWords<SingletonConfig> = {
  cell: ({ mode, key }) => [`singleton ${mode}${by(key)}`],
  lines: ({ mode, key }) => [
    {
      name: "One at a time",
      text: `${mode === "skip" ? "the next is skipped" : "the one before is cancelled"}${forEach(key)}`,
    },
  ],
};

const oneAtATime = "one run at a time is allowed";

export const skippedWords: DecisionWords = {
  sentence: ({ name, run, why }) => `${name} was not started:${run} had its singleton key${why}.`,
  whyNot: oneAtATime,
  row: (fn) => `${fn} was already open`,
  beside: "skipped, one was open",
  spared: { because: oneAtATime, why: oneAtATime },
};
