import { expect, test } from "vitest";
import { labelParts, ranWords, whoAsked, whoAskedWords } from "./group-words.ts";
import type { GroupedRun, GroupItem } from "./groups-data.ts";

const run = (some: Partial<GroupedRun>): GroupedRun => ({
  id: "r",
  state: "completed",
  kind: "first",
  eventId: "e",
  createdAt: 0,
  startedAt: null,
  endedAt: null,
  dueAt: null,
  attempt: null,
  preview: null,
  previewStep: null,
  ...some,
});

const group = (some: Partial<GroupItem>): GroupItem => ({
  id: "g",
  function: "f",
  key: "48213",
  label: "placementId 48213",
  isGuess: false,
  expression: "event.data.placementId",
  eventName: null,
  window: { kind: "none", startsAt: 0, endsAt: null },
  runs: [run({})],
  runCount: 1,
  counts: { suppressed: 0, slipped: 0, reruns: 0 },
  gapMs: null,
  isLoud: false,
  tags: [],
  ...some,
});

test("a doubled key says how often it ran and how far apart, and a rerun by a person is not counted", () => {
  const counts = { suppressed: 0, slipped: 1, reruns: 2 };
  expect(ranWords(group({ runCount: 4, gapMs: 808, counts }))).toBe("ran twice, 0.8 s apart");
  expect(ranWords(group({ runCount: 3, gapMs: 90_000 }))).toBe("ran 3 times, first 1 m 30 s apart");
});

test("up to five askers of a kind are drawn, of more four and a number", () => {
  const drawn = (suppressed: number) => whoAsked(group({ counts: { suppressed, slipped: 0, reruns: 0 } }))[1];
  expect(drawn(5)).toEqual({ glyph: "suppressed", shown: 5, more: 0 });
  expect(drawn(9)).toEqual({ glyph: "suppressed", shown: 4, more: 5 });
  const all = group({ counts: { suppressed: 1, slipped: 2, reruns: 1 } });
  expect(whoAsked(all).map(({ glyph }) => glyph)).toEqual(["first", "slipped", "suppressed", "rerun"]);
  expect(whoAskedWords(all)).toBe("first run, 2 slipped through, 1 duplicate suppressed, 1 rerun");
});

test("a key that is no path of the event has no name before it", () => {
  expect(labelParts(group({}))).toEqual({ name: "placementId", value: "48213" });
  expect(labelParts(group({ expression: "event.data.a + event.data.b", label: "x y" }))).toEqual({
    name: null,
    value: "x y",
  });
});
