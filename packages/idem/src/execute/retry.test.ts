import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import { NonRetriableError, RetryAfterError, StepError } from "../model/user-errors.ts";
import { type Backoff, nextAttempt } from "./retry.ts";

const now = Date.UTC(2026, 0, 1);
const after = (error: unknown, over: { attempt?: number; chance?: number; backoff?: Backoff; max?: number } = {}) => {
  const next = nextAttempt(
    { error, attempt: over.attempt ?? 1, attemptsMax: over.max ?? 21, now, chance: over.chance ?? 0 },
    over.backoff ?? null,
  );
  return next.kind === "final" ? "final" : next.atMs - now;
};

describe("the published table", () => {
  const seconds = [15, 30, 60, 120, 300, 600, 1_200, 2_400, 3_600, 7_200, 7_200, 7_200];
  test.each(seconds.map((delay, i) => [i + 1, delay]))(
    "after attempt %i: %i seconds and up to 30 more",
    (attempt, delay) => {
      expect(after(new Error("x"), { attempt, chance: 0 })).toBe(delay * 1_000);
      const latest = after(new Error("x"), { attempt, chance: 1 - 2 ** -32 });
      expect(latest).toBeGreaterThan((delay + 29) * 1_000);
      expect(latest).toBeLessThan((delay + 30) * 1_000);
    },
  );

  test("the last attempt is followed by none", () => {
    expect(after(new Error("x"), { attempt: 5, max: 5 })).toBe("final");
    expect(after(new Error("x"), { attempt: 1, max: 1 })).toBe("final");
    expect(after(new Error("x"), { attempt: 4, max: 5 })).not.toBe("final");
  });
});

describe("a backoff of one's own", () => {
  test("is asked with the attempt that failed, counted from 1", () => {
    expect(after(new Error("x"), { attempt: 3, backoff: (attempt) => attempt * 1_000, chance: 0.9 })).toBe(3_000);
    expect(after(new Error("x"), { backoff: () => 0 })).toBe(0);
    expect(after(new Error("x"), { backoff: () => 1.9 })).toBe(1);
  });

  test("that answers nonsense, too much, or throws, never stops the run", () => {
    for (const nonsense of [Number.NaN, -1, Number.POSITIVE_INFINITY, "soon", undefined, null, {}]) {
      expect(after(new Error("x"), { backoff: () => nonsense as number })).toBe(15_000);
    }
    expect(after(new Error("x"), { backoff: () => 10 ** 15 })).toBe(24 * 3_600_000);
    const throwing = () => {
      throw new Error("backoff is broken");
    };
    expect(after(new Error("x"), { backoff: throwing })).toBe(15_000);
  });
});

describe("RetryAfterError", () => {
  test.each([
    ["seconds, as in the HTTP header", "30", 30_000],
    ["an HTTP date", "Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["a duration", "5m", 300_000],
    ["milliseconds", 2_500, 2_500],
    ["a Date", new Date(now + 90_000), 90_000],
    ["an ISO instant", "2026-01-01T01:00:00Z", 3_600_000],
    ["a time in the past: a second", new Date(now - 1), 1_000],
    ["less than a second: a second", 1, 1_000],
    ["more than a day: a day", "7d", 24 * 3_600_000],
    ["unreadable: the table's first delay", "when it suits you", 15_000],
    ["an invalid Date: the table's first delay", new Date(Number.NaN), 15_000],
  ])("%s", (_, value, ms) => {
    expect(after(new RetryAfterError("busy", value))).toBe(ms);
  });

  test("counts as an attempt like any other", () => {
    expect(after(new RetryAfterError("busy", "1s"), { attempt: 5, max: 5 })).toBe("final");
  });

  test("whatever its time, the next attempt comes between a second and a day later", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.date({ noInvalidDate: false })), (value) => {
        const ms = after(new RetryAfterError("busy", value));
        expect(ms).toBeGreaterThanOrEqual(1_000);
        expect(ms).toBeLessThanOrEqual(24 * 3_600_000);
        expect(Number.isInteger(ms)).toBe(true);
      }),
    );
  });
});

describe("what no retry can help", () => {
  test("is final at once", () => {
    expect(after(new NonRetriableError("no"))).toBe("final");
    expect(after(new StepError("s", { name: "Error", message: "spent" }))).toBe("final");
    expect(after(errors.STEP_INVALID({ step: "s", why: "x" }))).toBe("final");
  });

  test("a busy store is worth another try", () => {
    expect(after(errors.STORE_BUSY({ queued: 1 }))).toBe(15_000);
  });

  test("whatever is thrown, there is an answer", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const thrown of ["x", null, undefined, 7, proxy, Symbol("s"), Object.create(null)]) {
      expect(after(thrown)).toBe(15_000);
    }
  });
});
