// The short form. `npm run proof -- crash-toolkit` is the long one.
import { expect, test } from "vitest";
import seeds from "../../proof/seeds.json" with { type: "json" };
import { matrixReport, runMatrix } from "./matrix.ts";
import { modes } from "./shop.ts";

const from = Number(process.env.TORTURE_SEED ?? seeds.crash.toolkit);

test("a process killed at any boundary of a request's store calls does nothing twice that its mode promises to do once", {
  timeout: 300_000,
}, async () => {
  const results = await runMatrix({ from, seeds: 20, jobs: 2 });
  console.log(matrixReport(results));
  expect(results.flatMap(({ violations }) => violations)).toEqual([]);
  expect(new Set(results.map(({ plan }) => `${plan.mode} ${plan.dialect}`)).size).toBe(modes.length * 2);
  // Otherwise the kills met idle processes.
  expect(results.filter(({ points }) => points.length > 0).length).toBeGreaterThan(10);
});
