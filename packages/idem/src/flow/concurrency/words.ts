import { by, type OptionWords } from "../option-words.ts";
import type { ConcurrencyLimit } from "./config.ts";

export const concurrencyWords: OptionWords<readonly ConcurrencyLimit[]> = {
  cell: (limits) =>
    limits.map(({ limit, key, scope }) => `${limit} at once${by(key)}${scope === "fn" ? "" : ` (${scope})`}`),
};
