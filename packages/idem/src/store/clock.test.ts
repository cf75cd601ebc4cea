import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { StoreClock } from "./clock.ts";

test("however often the wall clock is set ahead, no window is shorter than it was lived, and what is remembered stays bounded", () => {
  const source = new ManualClock();
  const clock = new StoreClock(source);
  const openedAt = clock.read().now;
  for (let i = 1; i <= 1_000; i++) {
    source.advance(1_000);
    source.stepWall(60_000);
    expect(clock.read().windowNow(openedAt)).toBe(openedAt + i * 1_000);
  }
  const { now, windowNow } = clock.read();
  source.advance(5);
  expect(windowNow(now)).toBe(now);
  expect(clock.steps.length).toBeLessThanOrEqual(100);
});
