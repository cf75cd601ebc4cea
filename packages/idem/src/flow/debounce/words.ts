import { lengthText } from "../../model/length-text.ts";
import { type DecisionWords, gatheredSentence } from "../decision-words.ts";
import { by, forEach, type OptionWords } from "../option-words.ts";
import type { DebounceConfig } from "./config.ts";

export const debounceWords: OptionWords<DebounceConfig> = {
  cell: ({ periodMs, key }) => [`debounce ${lengthText(periodMs)}${by(key)}`],
  lines: ({ periodMs, key }, length) => [
    { name: "Debounce", text: `after ${length(periodMs)} of quiet${forEach(key)}` },
  ],
};

export const debouncedWords: DecisionWords = {
  sentence: gatheredSentence,
  whyNot: "a later event took its place",
  row: (fn) => `waits for quiet in ${fn}`,
  beside: "waits for quiet",
  meanwhile: "waits until no other event comes",
  spared: { because: "the last of several events counts", why: "a later one took its place", isLeftOut: true },
};
