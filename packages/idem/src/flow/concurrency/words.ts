import { by, type InLineWords, type OptionWords } from "../option-words.ts";
import type { ConcurrencyLimit } from "./config.ts";

export const concurrencyWords: OptionWords<readonly ConcurrencyLimit[]> = {
  cell: (limits) =>
    limits.map(({ limit, key, scope }) => `${limit} at once${by(key)}${scope === "fn" ? "" : ` (${scope})`}`),
};

export const slotWords: InLineWords = (of, { limit, used }) => `a slot${of}: ${used} of ${limit} are in use`;
