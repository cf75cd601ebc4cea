// The simulator's part of proof/seeds.json: the seeds that `npm test` simulates, and those that failed once, with the promise each one broke.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./engine.ts";
import type { StoreModel, WorldOptions } from "./plan.ts";

export interface FailedSeed {
  readonly seed: number;
  /** The check that failed first. */
  readonly broke: string;
  /** As for `--off`: faults that did not exist when the seed was found, and would make another simulation of it. */
  readonly off?: string;
  /** As for `--store`, if it was given. */
  readonly store?: StoreModel;
}

interface Seeds {
  readonly simulation: { readonly seeds: readonly number[]; readonly failed: readonly FailedSeed[] };
}

const file = join(root, "proof", "seeds.json");
const readSeeds = (): Seeds => JSON.parse(readFileSync(file, "utf8")) as Seeds;

/** Chosen so that together they reach every situation of sometimes.ts and catch every deliberate defect of defects.ts. */
export const fixedSeeds = (): readonly number[] => readSeeds().simulation.seeds;

export const failedSeeds = (): readonly FailedSeed[] => readSeeds().simulation.failed;

/** The simulation of a seed as it was when it failed. */
export const settingsOf = ({ off, store }: FailedSeed): Omit<WorldOptions, "seed"> => ({
  off: new Set(off?.split(",")),
  ...(store === undefined ? {} : { store }),
});

export function addFailedSeed(seed: number, broke: string, store?: StoreModel): void {
  const seeds = readSeeds();
  const { failed } = seeds.simulation;
  if (failed.some((other) => other.seed === seed && other.store === store)) return;
  const simulation = { ...seeds.simulation, failed: [...failed, { seed, broke, store }] };
  writeFileSync(file, `${JSON.stringify({ ...seeds, simulation }, null, 2)}\n`);
}
