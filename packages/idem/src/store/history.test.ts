import { expect, test } from "vitest";
import { heartbeatKeptMs, judgeHeartbeat } from "./history.ts";

const at = 1_000_000;
const later = at + 10_000;
const acknowledged = { counter: 7, at };

test.each([
  ["nothing was acknowledged: a process that starts after a failover cannot know", null, { counter: 3, at }, "unknown"],
  ["nothing was acknowledged, and there is no row", null, null, "unknown"],
  ["the row has the counter that was acknowledged", acknowledged, { counter: 7, at }, "kept"],
  ["a heartbeat whose answer was lost did count", acknowledged, { counter: 8, at: at + 5_000 }, "kept"],
  ["the row is older than what was acknowledged", acknowledged, { counter: 6, at: at - 5_000 }, "older"],
  ["the row is gone shortly after it was acknowledged", acknowledged, null, "gone"],
] as const)("%s: %#", (_, known, found, verdict) => {
  expect(judgeHeartbeat(known, found, later)).toBe(verdict);
});

test("a row that may have been cleaned up proves nothing, and one that is older proves it however long the process slept", () => {
  const slept = at + heartbeatKeptMs / 2;
  expect(judgeHeartbeat(acknowledged, null, slept - 1)).toBe("gone");
  expect(judgeHeartbeat(acknowledged, null, slept)).toBe("unknown");
  expect(judgeHeartbeat(acknowledged, { counter: 6, at }, slept * 100)).toBe("older");
});
