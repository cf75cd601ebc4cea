import { expect, test } from "vitest";
import { agoWords, clockOf, durationWords, instantOf, lengthWords, minuteOf, shortInstantOf } from "./time-words.ts";

const minute = 60_000;
const hour = 60 * minute;

test("a length is said in at most two units", () => {
  const said = [5, 99, 800, 1_000, 9_940, 52_900, 9 * minute + 57_000, 23 * hour + 59 * minute, hour, 146 * hour].map(
    lengthWords,
  );
  expect(said).toEqual(["5 ms", "99 ms", "0.8 s", "1 s", "9.9 s", "52 s", "9 m 57 s", "23 h 59 m", "1 h", "6 d 2 h"]);
  expect([640, 1_560, 61_000].map(durationWords)).toEqual(["640 ms", "1.56 s", "1 m 1 s"]);
  expect([agoWords(0, 500), agoWords(0, 53_000), agoWords(0, 90 * minute)]).toEqual([
    "just now",
    "53 s ago",
    "1 h ago",
  ]);
});

test("an instant has its date unless it is today", () => {
  const at = Date.UTC(2026, 4, 15, 14, 46, 12, 104);
  expect(clockOf(at, { utc: true })).toBe("14:46:12.104");
  expect(instantOf(at, at + hour, { utc: true })).toBe("14:46:12.104");
  expect(instantOf(at, at + 24 * hour, { utc: true })).toBe("15 May, 14:46:12.104");
  expect(shortInstantOf(at, at + 24 * hour, true)).toBe("15 May 14:46");
  expect(instantOf(at, at + 400 * 24 * hour, { utc: true })).toBe("15 May 2026, 14:46:12.104");
});

test("to the minute it is told with its day unless it is today", () => {
  const at = Date.UTC(2026, 4, 15, 14, 47);
  expect(minuteOf(at - 3_600_000, at, true)).toBe("13:47");
  expect(minuteOf(Date.UTC(2026, 4, 14, 15), at, true)).toBe("yesterday 15:00");
  expect(minuteOf(Date.UTC(2026, 4, 8, 9), at, true)).toBe("8 May, 09:00");
});
