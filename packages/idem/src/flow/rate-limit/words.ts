import type { DecisionWords } from "../decision-words.ts";
import { by, forEach, type OptionWords, rateText } from "../option-words.ts";
import type { RateLimitConfig } from "./config.ts";

export const rateLimitWords: OptionWords<RateLimitConfig> = {
  cell: (config) => [`at most ${rateText(config)}${by(config.key)}`],
  lines: ({ limit, periodMs, key }, length) => [
    { name: "Rate limit", text: `${limit} in ${length(periodMs)}${forEach(key)}, more are not started` },
  ],
};

export const rateLimitedWords: DecisionWords = {
  sentence: ({ name, why }) => `${name} was not started: its rate limit was used up${why}.`,
  whyNot: "the rate limit was used up",
  row: (fn) => `over the rate of ${fn}`,
  beside: "over the rate, nothing ran",
};
