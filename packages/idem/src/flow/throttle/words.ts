import { lengthText } from "../../model/length-text.ts";
import { by, forEach, type InLineWords, type OptionWords, rateText } from "../option-words.ts";
import type { ThrottleConfig } from "./config.ts";

export const throttleWords: OptionWords<ThrottleConfig> = {
  cell: (config) => [`throttle ${rateText(config)}${by(config.key)}`],
  lines: ({ limit, periodMs, key }, length) => [
    { name: "Throttle", text: `${limit} starts in ${length(periodMs)}${forEach(key)}` },
  ],
};

export const spacedWords: InLineWords = (of, { limit, periodMs }, count) =>
  `its throttle${of}: ${count(limit, "start")} in ${lengthText(periodMs!)}`;
