import { lengthText } from "../../model/length-text.ts";
import { type DecisionWords, gatheredSentence } from "../decision-words.ts";
import { by, forEach, type OptionWords } from "../option-words.ts";
import type { BatchConfig } from "./config.ts";

export const batchWords: OptionWords<BatchConfig> = {
  cell: ({ maxSize, timeoutMs, key }) => [`batches of ${maxSize} or ${lengthText(timeoutMs)}${by(key)}`],
  lines: ({ maxSize, timeoutMs, key }, length) => [
    { name: "Batch", text: `up to ${maxSize} events, after ${length(timeoutMs)} at the latest${forEach(key)}` },
  ],
};

export const batchedWords: DecisionWords = {
  sentence: gatheredSentence,
  whyNot: null,
  row: (fn) => `in a batch of ${fn}`,
  beside: "waits for its batch",
  meanwhile: "gathers events into a batch",
};
