import type { OptionWords } from "../option-words.ts";
import type { CancelConfig } from "./config.ts";

export const cancelOnWords: OptionWords<readonly CancelConfig[]> = {
  cell: (cancels) => [`cancelled by ${cancels.map(({ event }) => event).join(", ")}`],
  lines: (cancels) =>
    cancels.map(({ event, if: condition }) => ({
      name: `Cancelled by ${event}`,
      text: condition === null ? "always" : `where ${condition}`,
    })),
};
