import { expect, test } from "vitest";
import { drawnPairs, gapCounts, perHour, spread } from "./pairs-places.ts";

test("pairs stand at their time, never on top of each other, and never outside", () => {
  expect(spread([10, 50, 90], 0, 100, 8)).toEqual([10, 50, 90]);
  expect(spread([10, 10, 10], 0, 100, 8)).toEqual([10, 18, 26]);
  expect(spread([98, 99, 100], 0, 100, 8)).toEqual([84, 92, 100]);
  const crowd = spread(Array<number>(300).fill(100), 0, 100, 8);
  expect(Math.min(...crowd)).toBeGreaterThanOrEqual(-1e-6);
  expect(Math.max(...crowd)).toBe(100);
});

test("more pairs than can be drawn one by one become bars that hold every one of them", () => {
  const hour = 3_600_000;
  const drawn = Array.from({ length: 500 }, (_, i) => ({ at: i * hour, count: 1 }));
  const { times, counts } = perHour(drawn, 200);
  expect(times.length).toBeLessThanOrEqual(200);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(500);
});

test("gaps are counted from 10 ms to 60 s, and what is further apart at the end", () => {
  expect(gapCounts([3, 12, 800, 59_999, 60_000, 9e9])).toEqual([1, 1, 0, 0, 1, 0, 0, 0, 1, 2]);
});

test("a thing that ran three times is one column with two diamonds", () => {
  const pair = (laterId: string, at: number) => ({ entity: "7", firstId: null, laterId, at, verify: null });
  expect(drawnPairs([{ entity: "7", pairs: [pair("b", 20), pair("a", 10)], gapMs: null }])).toEqual([
    { at: 10, count: 2 },
  ]);
});
