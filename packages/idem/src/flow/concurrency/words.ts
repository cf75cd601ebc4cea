import { instant } from "../../model/decision.ts";
import { by, type InLineWords, type OptionWords } from "../option-words.ts";
import type { ConcurrencyLimit } from "./config.ts";

export const concurrencyWords: OptionWords<readonly ConcurrencyLimit[]> = {
  cell: (limits) =>
    limits.map(
      ({ limit, key, scope, parallelSteps }) =>
        `${limit} ${parallelSteps === true ? "steps " : ""}at once${by(key)}${scope === "fn" ? "" : ` (${scope})`}`,
    ),
};

export const slotWords: InLineWords = (of, { limit, used, temporary }) =>
  `a slot${of}: ${used} of ${limit} are in use${temporary === null ? "" : `, ${instead(limit, temporary)}`}`;

/** "raised from 2 until 2026-05-15T15:00:00.000Z" */
export const instead = (limit: number, { own, until }: { readonly own: number; readonly until: number }): string =>
  `${limit < own ? "lowered" : "raised"} from ${own} until ${instant(until)}`;
