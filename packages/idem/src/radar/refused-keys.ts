// Keys that a person will not have for a function, and why. They are not offered again: the next best is, by the page and by doctor alike. Runs
// that happened twice are found all the same.
import type { Setting } from "../store/settings.ts";

/** The kind of setting a refusal is kept as: one for each function and expression. */
export const refusedKeyKind = "radar-refused-key";

/** Nobody refuses more fields than an event has; the list is read with every suggestion. */
export const refusedKeysMax = 20;

export interface RefusedKey {
  readonly fn: string;
  readonly expression: string;
  readonly reason: string;
  readonly by: string;
  readonly at: number;
}

/** Names of functions have no blank. */
export const refusedKeyName = ({ fn, expression }: Pick<RefusedKey, "fn" | "expression">): string =>
  `${fn} ${expression}`;

export const readRefusedKeys = (settings: readonly Pick<Setting, "value">[]): RefusedKey[] =>
  settings.map(({ value }) => JSON.parse(value) as RefusedKey);

export const refusedFor = (keys: readonly RefusedKey[], fn: string): RefusedKey[] =>
  keys.filter((key) => key.fn === fn);
