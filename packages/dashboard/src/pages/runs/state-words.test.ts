import { expect, test } from "vitest";
import type { GroupItem } from "./groups-data.ts";
import { timesOf } from "./runs-view.ts";
import { failedWith, matchingWords, stateWords } from "./state-words.ts";

const row = (state: string) => ({ runs: [{ state }] }) as unknown as GroupItem;

test("a filter by state is told in its own words and colour, never as if all were well", () => {
  expect(stateWords("failed", 123, true, " in the last 7 days")).toEqual({
    tone: "failed",
    title: "123 runs failed in the last 7 days",
  });
  expect(stateWords("failed", 1, true, "").title).toBe("1 run failed");
  expect(stateWords("queued", 100, false, "").title).toBe("100 and more runs stand in line");
  expect(stateWords("failed", 0, true, " in the last hour")).toEqual({
    tone: "plain",
    title: "No run failed in the last hour.",
  });
});

test("what runs failed with is counted, the most frequent first, and what is left over together", () => {
  const failed = (message: string) =>
    ({ runs: [{ state: "failed", preview: JSON.stringify({ message }), attempt: null }] }) as unknown as GroupItem;
  const rows = [
    failed("timeout"),
    failed("declined"),
    row("completed"),
    failed("declined"),
    failed("odd"),
    failed("rare"),
  ];
  expect(failedWith(rows)).toEqual({
    errors: [
      { text: "declined", count: 2 },
      { text: "timeout", count: 1 },
    ],
    others: 2,
  });
});

test("what matches and failed is not told with a green tick", () => {
  expect(matchingWords([row("completed"), row("failed")], true, "")).toEqual({
    tone: "failed",
    title: "Each of the 2 keys that match ran once, and 1 of them failed.",
  });
  expect(matchingWords([row("completed")], true, "").tone).toBe("good");
});

test("the time of what ended is when it ended; what is open is shown whatever its age", () => {
  expect(timesOf("failed", {})).toEqual({ endedSince: "7d", endedUntil: undefined });
  expect(timesOf("queued", {})).toEqual({ since: undefined, until: undefined });
  expect(timesOf(undefined, { since: "1h" })).toEqual({ since: "1h", until: undefined });
});
