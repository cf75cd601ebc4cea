import { expect, test } from "vitest";
import { type BeatFacts, nextBeat, readBlockedMax } from "./beats.ts";

const step = (over: Partial<BeatFacts>) =>
  nextBeat({ now: 100_000, heardAt: 95_000, livedAt: 100_000, termMs: 20_000, blockedMaxMs: 300_000, ...over });

test("a lease is extended while the main thread is busy, and no longer once it was silent for longer than it may be", () => {
  expect(step({})).toBe("beat");
  expect(step({ livedAt: 100_000 - 299_999 })).toBe("beat");
  expect(step({ livedAt: 100_000 - 300_000 })).toBe("silent");
});

test("a lease that was not heard of for three quarters of its term is never extended again, however lively the main thread is", () => {
  expect(step({ heardAt: 100_000 - 14_999 })).toBe("beat");
  expect(step({ heardAt: 100_000 - 15_000 })).toBe("lapsed");
  expect(step({ heardAt: 100_000 - 15_000, livedAt: 0 })).toBe("lapsed");
});

test("how long a main thread may be blocked is read, and refused where a lease is over sooner", () => {
  expect([readBlockedMax(undefined), readBlockedMax("20s"), readBlockedMax("1h")]).toEqual([
    300_000, 20_000, 3_600_000,
  ]);
  for (const wrong of ["19s", 0, "25h"]) {
    expect(() => readBlockedMax(wrong), String(wrong)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  }
});
