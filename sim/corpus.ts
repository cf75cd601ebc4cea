// Seeds that failed once, run for ever by the test. Kept beside the sources, with the promise each one broke.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./engine.ts";

export interface CorpusSeed {
  readonly seed: number;
  /** The check it failed first. */
  readonly broke: string;
  /** As for `--off`: found before there was such a thing, it would be another world with it. */
  readonly off?: string;
}

const file = join(root, "sim", "corpus.json");

export const readCorpus = (): readonly CorpusSeed[] => JSON.parse(readFileSync(file, "utf8")) as CorpusSeed[];

export function addToCorpus(seed: number, broke: string): void {
  const known = readCorpus();
  if (known.some((other) => other.seed === seed)) return;
  writeFileSync(file, `${JSON.stringify([...known, { seed, broke }], null, 2)}\n`);
}
