// The short form over PostgreSQL. `npm run proof -- crash --store postgres` is the long one.
import { expect, test } from "vitest";
import seeds from "../proof/seeds.json" with { type: "json" };
import { builtEngine } from "./engine.ts";
import { faultKinds } from "./fault-plan.ts";
import { faultCount, postgresReport, shortShape } from "./postgres-campaign.ts";
import { runPostgresRound } from "./postgres-round.ts";

const seed = Number(process.env.TORTURE_SEED ?? seeds.crash.postgres);

test("three nodes killed, frozen and cut off from PostgreSQL at every turn break no promise", {
  timeout: 600_000,
}, async () => {
  const round = await runPostgresRound({ ...shortShape, seed, engine: builtEngine });
  console.log(postgresReport([round]));
  expect(round.violations).toEqual([]);
  expect(Object.keys(round.faults).sort()).toEqual([...faultKinds].sort());
  expect(Object.values(round.faults).reduce((a, b) => a + b, 0)).toBe(faultCount(shortShape));
  // Otherwise the faults met idle nodes.
  expect(round.duplicates).toBeGreaterThan(0);
  expect(round.stepsEnteredAgain).toBeGreaterThan(0);
});
