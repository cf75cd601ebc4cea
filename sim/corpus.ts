// Seeds that failed once, run for ever by the test. Kept beside the sources, with the promise each one broke.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./engine.ts";
import type { StoreModel, WorldOptions } from "./plan.ts";

export interface CorpusSeed {
  readonly seed: number;
  /** The check it failed first. */
  readonly broke: string;
  /** As for `--off`: found before there was such a thing, it would be another world with it. */
  readonly off?: string;
  /** As for `--store`, where that was given. */
  readonly store?: StoreModel;
}

const file = join(root, "sim", "corpus.json");

export const readCorpus = (): readonly CorpusSeed[] => JSON.parse(readFileSync(file, "utf8")) as CorpusSeed[];

/** The world of an entry as it was when it failed. */
export const settingsOf = ({ off, store }: CorpusSeed): Omit<WorldOptions, "seed"> => ({
  off: new Set(off?.split(",")),
  ...(store === undefined ? {} : { store }),
});

export function addToCorpus(seed: number, broke: string, store?: StoreModel): void {
  const known = readCorpus();
  if (known.some((other) => other.seed === seed && other.store === store)) return;
  writeFileSync(file, `${JSON.stringify([...known, { seed, broke, store }], null, 2)}\n`);
}
