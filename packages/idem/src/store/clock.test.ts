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

test("a wall clock set back 25 hours does not stop time, which never goes backwards and ends where the wall is", () => {
  const source = new ManualClock();
  const clock = new StoreClock(source);
  const before = clock.read().now;
  source.stepWall(-25 * 3_600_000);
  expect(clock.read().now).toBe(before);
  let last = before;
  for (let i = 0; i < 600; i++) {
    source.advance(300_000);
    const { now } = clock.read();
    // Just before the wall has caught up it is waited for.
    if (source.wallMs() < last) expect(now - last).toBe(150_000);
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
  expect(last).toBe(source.wallMs());
});

test("a wall clock that is a few seconds behind is waited for, not overtaken", () => {
  const source = new ManualClock();
  const clock = new StoreClock(source);
  const before = clock.read().now;
  source.stepWall(-4_000);
  source.advance(1_000);
  expect(clock.read().now).toBe(before);
});
