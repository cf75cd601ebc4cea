// The short form: 60 kills and a few hundred cuts of power. `npm run proof -- crash` is the long one.
import { expect, test } from "vitest";
import seeds from "../proof/seeds.json" with { type: "json" };
import { runCampaign, shortForm } from "./campaign.ts";
import { builtEngine, crashPoints } from "./engine.ts";
import { losePower, whyNoTrace } from "./power-loss.ts";
import { reportOf } from "./report.ts";

const seed = Number(process.env.TORTURE_SEED ?? seeds.crash.sqlite);

test("60 kills, at every crash point and at any time, also beside a tool that locks the file, break no promise", {
  timeout: 600_000,
}, async () => {
  console.log(`TORTURE_SEED=${seed}`);
  const rounds = await runCampaign({ form: shortForm, seed, jobs: 2, engine: builtEngine, summary: null });
  console.log(reportOf(rounds));
  expect(rounds.flatMap(({ violations }) => violations)).toEqual([]);
  const kills = rounds.flatMap((round) => Object.values(round.kills)).reduce((a, b) => a + b, 0);
  expect(kills).toBe(60);
  expect(Object.keys(rounds[0]!.points).sort()).toEqual([...crashPoints].sort());
  const locks = rounds.reduce((sum, { locker }) => sum + (locker?.locks ?? 0) + (locker?.checkpoints ?? 0), 0);
  expect(locks).toBeGreaterThan(0);
  // Otherwise the kills met an idle process.
  expect(rounds.every(({ stepsEnteredAgain, duplicates }) => stepsEnteredAgain > 0 && duplicates > 0)).toBe(true);
});

const whyNot = whyNoTrace();
if (whyNot !== null) console.log(`Power loss is not tested: ${whyNot}`);
const options = { engine: builtEngine, seed, runs: 60, cutsMax: 100 };

test.skipIf(whyNot !== null)("what was promised survives a loss of power", { timeout: 300_000 }, async () => {
  const { promises, images, lossyImages, damagedImages, examples } = await losePower({
    ...options,
    synchronous: "FULL",
  });
  expect({ lossyImages, damagedImages, examples }).toEqual({ lossyImages: 0, damagedImages: 0, examples: [] });
  expect(promises).toBeGreaterThanOrEqual(240);
  expect(images).toBeGreaterThanOrEqual(150);
});

test.skipIf(whyNot !== null)(
  "the replay notices what a store that syncs too little loses",
  { timeout: 300_000 },
  async () => {
    const { lossyImages, damagedImages, worstLoss } = await losePower({ ...options, synchronous: "NORMAL" });
    expect(lossyImages).toBeGreaterThan(0);
    expect(worstLoss).toBeGreaterThan(100);
    expect(damagedImages).toBe(0);
  },
);
