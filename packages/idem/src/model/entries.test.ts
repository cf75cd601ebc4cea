import { describe, expect, test } from "vitest";
import { type Entry, entriesDefault, nextEntry } from "./entries.ts";
import { readEntries } from "./function-options.ts";

const next = (lostWorkers: number, over: Partial<Parameters<typeof nextEntry>[0]> = {}): Entry =>
  nextEntry({ lostWorkers, enterAt: null, entries: entriesDefault, reached: 1_000_000, chance: 0, ...over });
const putOff = (lostWorkers: number, chance: number): number => {
  const entry = next(lostWorkers, { chance });
  return entry.kind === "put-off" ? entry.enterAt - 1_000_000 : 0;
};

describe("a run whose workers were lost", () => {
  test("is entered at once after the first, then later each time, spread over twice as long again", () => {
    expect([0, 1].map((count) => next(count).kind)).toEqual(["enter", "enter"]);
    expect([2, 3, 4].map((count) => putOff(count, 0))).toEqual([5_000, 15_000, 45_000]);
    expect([2, 3, 4].map((count) => putOff(count, 1))).toEqual([15_000, 45_000, 135_000]);
    expect(next(5).kind).toBe("enough");
  });

  test("keeps the time it was put off to, whatever the dice say when it is looked at again", () => {
    expect(next(3, { enterAt: 1_000_001, chance: 1 })).toEqual({ kind: "put-off", enterAt: 1_000_001 });
    expect(next(3, { enterAt: 1_000_000, chance: 1 })).toEqual({ kind: "enter" });
  });

  test("has as many entries and such delays as its function says", () => {
    const entries = { max: 1_000, onMax: "fail", delayMs: 0 } as const;
    expect(next(999, { entries, chance: 1 })).toEqual({ kind: "enter" });
    expect(next(1_000, { entries })).toEqual({ kind: "enough" });
    expect(next(1, { entries: { ...entries, max: 1 } })).toEqual({ kind: "enough" });
  });
});

test("what a function says about its entries is read, and refused where it means nothing", () => {
  expect(readEntries(undefined)).toEqual({});
  expect(readEntries({ max: 3 })).toEqual({ entries: { max: 3, onMax: "park", delayMs: 5_000 } });
  expect(readEntries({ onMax: "fail", delay: 0 })).toEqual({ entries: { max: 5, onMax: "fail", delayMs: 0 } });
  for (const wrong of [
    5,
    null,
    [],
    { max: 0 },
    { max: 1.5 },
    { max: 1_001 },
    { onMax: "release" },
    { delay: "2h" },
    { maximum: 3 },
  ]) {
    expect(() => readEntries(wrong), JSON.stringify(wrong)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  }
});
