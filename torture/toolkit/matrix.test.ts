// The short form. `npm run torture:toolkit` is the long one.
import { expect, test } from "vitest";
import { matrixReport, runMatrix } from "./matrix.ts";
import { modes } from "./shop.ts";

const from = Number(process.env.TORTURE_SEED ?? 1);

test("a process killed at any boundary of a request's store calls does nothing twice that its mode promises to do once", {
  timeout: 120_000,
}, async () => {
  const results = await runMatrix({ from, seeds: 20, jobs: 2 });
  console.log(matrixReport(results));
  expect(results.flatMap(({ violations }) => violations)).toEqual([]);
  expect(new Set(results.map(({ plan }) => `${plan.mode} ${plan.dialect}`)).size).toBe(modes.length * 2);
  // Otherwise the kills met idle processes.
  expect(results.filter(({ points }) => points.length > 0).length).toBeGreaterThan(10);
});
