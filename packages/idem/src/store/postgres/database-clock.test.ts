import { expect, test } from "vitest";
import { DatabaseClock } from "./database-clock.ts";

/** A node that reads the server's clock, and is told of it some time after it asked. */
function reader() {
  let mono = 0;
  const clock = new DatabaseClock({ monoMs: () => mono });
  const read = (askedMono: number, wallMs: number, heardMono: number) => {
    mono = heardMono;
    return clock.read({ micros: wallMs * 1_000, floor: null, steps: null }, askedMono);
  };
  return { clock, read };
}

const start = 1_000_000;

test("an answer that was long on its way is no step of the clock: leases end when they should", () => {
  const { clock, read } = reader();
  read(0, start, 1);
  // Frozen, or cut off, between the server's reading and the node's.
  expect(read(1_000, start + 1_000, 16_000).isStepped).toBe(false);
  const { at, isStepped } = read(16_010, start + 16_011, 16_012);
  expect({ isStepped, now: at.now, leaseNow: at.leaseNow }).toEqual({
    isStepped: false,
    now: start + 16_011,
    leaseNow: start + 16_011,
  });
  // One that is even later says nothing new.
  read(2_000, start + 2_000, 30_000);
  expect(read(30_010, start + 30_011, 30_012).isStepped).toBe(false);
  // And a statement that is sent now finds the wall where it may be.
  const { floor, ceiling } = clock.bounds(null)!;
  expect(floor).toBe(start + 30_011);
  expect(ceiling).toBeGreaterThanOrEqual(start + 30_012);
});

test("a step is seen after an answer that was long on its way", () => {
  const { read } = reader();
  read(0, start, 1);
  read(1_000, start + 1_000, 16_000);
  const hour = 3_600_000;
  const { at, isStepped } = read(17_000, start + 17_000 + hour, 17_001);
  expect(isStepped).toBe(true);
  expect(at.leaseNow).toBeLessThanOrEqual(start + 17_001);
});
