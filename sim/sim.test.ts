// Five hundred seeded worlds and every seed that ever failed. `npm run sim -- --seed N` tells the story of one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCorpus, settingsOf } from "./corpus.ts";
import { modelFolder, planted } from "./defect.ts";
import { defects } from "./defects.ts";
import { builtEngine } from "./engine.ts";
import { builtSimulator, runWorlds } from "./run-worlds.ts";
import { unreached } from "./sometimes.ts";

const options = { jobs: 2, engine: builtEngine, keepGoing: true };
const worlds = 500;

test("five hundred worlds of crashes, lost replies and wrong clocks break no promise", {
  timeout: 400_000,
}, async () => {
  const done = await runWorlds({ ...options, from: 1, worlds });
  expect(done.failures.map(({ seed, violations }) => ({ seed, ...violations[0] }))).toEqual([]);
  expect(unreached(done.counts, worlds)).toEqual([]);
});

test("no seed that failed once fails again", { timeout: 60_000 }, async () => {
  const corpus = readCorpus();
  const seeds = corpus.map(({ seed }) => seed);
  const settings = (place: number) => settingsOf(corpus[place]!);
  const done = await runWorlds({ ...options, from: 0, worlds: seeds.length, seeds, settings });
  expect(done.failures.map(({ seed, violations }) => ({ seed, ...violations[0] }))).toEqual([]);
});

test.each(defects)("the planted defect finds the code it changes: $name", ({ name, patches }) => {
  for (const patch of patches) {
    const file = patch.file.startsWith(`${modelFolder}/`)
      ? join(builtSimulator, patch.file.slice(modelFolder.length))
      : join(builtEngine, patch.file);
    expect(planted(name, patch, readFileSync(file, "utf8"))).toContain(patch.to);
  }
});
