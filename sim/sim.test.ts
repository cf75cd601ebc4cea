// The fixed seeds of proof/seeds.json and every seed that failed once. `npm run proof -- sim --seed N` tells the story of one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelFolder, planted } from "./defect.ts";
import { defects } from "./defects.ts";
import { builtEngine } from "./engine.ts";
import { builtSimulator, runWorlds } from "./run-worlds.ts";
import { failedSeeds, fixedSeeds, settingsOf } from "./seeds.ts";
import { unreached } from "./sometimes.ts";

const options = { jobs: 2, engine: builtEngine, keepGoing: true };

test("crashes, lost replies and wrong clocks break no promise in the simulations of the fixed seeds", {
  timeout: 600_000,
}, async () => {
  const seeds = fixedSeeds();
  const done = await runWorlds({ ...options, from: 0, worlds: seeds.length, seeds });
  expect(done.failures.map(({ seed, violations }) => ({ repeat: repeatOf(seed), ...violations[0] }))).toEqual([]);
  expect(unreached(done.counts, seeds.length)).toEqual([]);
});

test("no seed that failed once fails again", { timeout: 300_000 }, async () => {
  const failed = failedSeeds();
  const seeds = failed.map(({ seed }) => seed);
  const settings = (place: number) => settingsOf(failed[place]!);
  const done = await runWorlds({ ...options, from: 0, worlds: seeds.length, seeds, settings });
  expect(done.failures.map(({ seed, violations }) => ({ repeat: repeatOf(seed), ...violations[0] }))).toEqual([]);
});

function repeatOf(seed: number): string {
  const { off, store } = failedSeeds().find((failed) => failed.seed === seed) ?? {};
  return `npm run proof -- sim --seed ${seed}${off === undefined ? "" : ` --off ${off}`}${store === undefined ? "" : ` --store ${store}`}`;
}

test.each(defects)("the planted defect finds the code it changes: $name", ({ name, patches }) => {
  for (const patch of patches) {
    const file = patch.file.startsWith(`${modelFolder}/`)
      ? join(builtSimulator, patch.file.slice(modelFolder.length))
      : join(builtEngine, patch.file);
    expect(planted(name, patch, readFileSync(file, "utf8"))).toContain(patch.to);
  }
});
