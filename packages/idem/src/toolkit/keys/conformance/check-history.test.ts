// The checker of histories finds what it is there to find.
import { expect, test } from "vitest";
import { faultsOf } from "./check-history.suite.ts";
import type { Call, Writing, WrittenRow } from "./history.suite.ts";

const row = (owner: string, fence: number, change: Partial<WrittenRow> = {}): WrittenRow => ({
  owner,
  fence,
  state: "running",
  lease_until: 100,
  ends_at: 1_000,
  reference: null,
  point: null,
  ...change,
});
const writing = (place: number, before: WrittenRow | null, after: WrittenRow | null, at = 0): Writing => ({
  place,
  id: "a",
  at,
  before,
  after,
});
const call = (beganAt: number, owner: string, fence: number, change: Partial<Call> = {}): Call => ({
  name: "claim",
  id: "a",
  beganAt,
  endedAt: beganAt + 1,
  owner,
  fence,
  reference: `${beganAt}`,
  told: { kind: "fresh", fence, attempt: 1, point: null },
  ...change,
});
const complete = (beganAt: number, owner: string, fence: number, told: "held" | "lost"): Call =>
  call(beganAt, owner, fence, { name: "complete", reference: `complete ${beganAt}`, told });

const first = row("x", 1);
const done = row("x", 1, { state: "completed", reference: "complete 2" });

test("a sound history has no faults", () => {
  const writings = [writing(1, null, first), writing(2, first, done), writing(3, done, row("y", 2), 1_000)];
  expect(faultsOf(writings, [call(0, "x", 1), complete(2, "x", 1, "held"), call(4, "y", 2)])).toEqual([]);
});

test.each<[string, Writing[], Call[], RegExp]>([
  [
    "a live lease was taken",
    [writing(1, null, first), writing(2, first, row("y", 2), 99)],
    [call(0, "x", 1), call(2, "y", 2)],
    /live owner/,
  ],
  [
    "a fence was used twice",
    [writing(1, null, first), writing(2, first, row("y", 1), 100)],
    [call(0, "x", 1), call(2, "y", 1)],
    /fence of its own/,
  ],
  ["two were fresh", [writing(1, null, first)], [call(0, "x", 1), call(2, "y", 1)], /owners by the rows/],
  [
    "an outcome changed",
    [writing(1, null, first), writing(2, first, done), writing(3, done, { ...done, reference: "z" })],
    [call(0, "x", 1), complete(2, "x", 1, "held")],
    /changed inside/,
  ],
  [
    "a late completion was recorded",
    [writing(1, null, first), writing(2, first, done)],
    [call(0, "x", 1), complete(2, "x", 1, "lost")],
    /lost and is recorded/,
  ],
  [
    "a completion was swallowed",
    [writing(1, null, first)],
    [call(0, "x", 1), complete(2, "x", 1, "held")],
    /held and is not recorded/,
  ],
  [
    "the order was turned round",
    [writing(1, null, first), writing(2, first, done), writing(3, done, row("y", 2), 1_000)],
    [call(8, "x", 1), complete(2, "x", 1, "held"), call(4, "y", 2)],
    /was done after it/,
  ],
])("it is found when %s", (_, writings, calls, expected) => {
  expect(faultsOf(writings, calls).join("\n")).toMatch(expected);
});
