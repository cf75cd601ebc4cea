import { expect, test } from "vitest";
import { behindWords, type LineNow, moveWords } from "./line-words.ts";

const line: LineNow = {
  waiting: 510,
  oldestAt: 1_000_000,
  atWork: 2,
  endsPerMinute: 6,
  comePerMinute: 0,
  emptyInMs: 85 * 60_000,
  behind: { kind: "concurrency", limit: 2, periodMs: null, key: null },
};
const now = 1_000_000 + 9 * 60_000 + 4_000;

test("a line is told with what it is behind, the oldest and about how long it takes", () => {
  expect(behindWords(line.behind!)).toBe("concurrency 2");
  expect(moveWords(line, now)).toBe("The oldest has waited 9 m; about 85 m to go");
});

test("where no end is in sight it says so instead of naming a time", () => {
  expect(moveWords({ ...line, emptyInMs: null, comePerMinute: 18 }, now)).toContain("it grows by 12 a minute");
  expect(moveWords({ ...line, emptyInMs: null, endsPerMinute: 0 }, now)).toContain("nobody can say");
});
