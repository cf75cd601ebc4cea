import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTick } from "../model/cron.ts";
import type { MissedPolicy } from "../model/function-config.ts";
import { dueTicks } from "./cron-ticks.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const nine = Date.UTC(2026, 10, 15, 9);
const daily = "0 9 * * *";
const hourly = "0 * * * *";

const skip: MissedPolicy = { kind: "skip" };
const last: MissedPolicy = { kind: "last" };
const all = (max: number): MissedPolicy => ({ kind: "all", max });

const due = (cron: string, lastTickAt: number, now: number, missed?: MissedPolicy) =>
  dueTicks({ cron, lastTickAt, missed, now });

/** "start 09:00" */
const told = (cron: string, lastTickAt: number, now: number, missed?: MissedPolicy) =>
  due(cron, lastTickAt, now, missed).ticks.map(
    ({ tickAt, decision }) => `${decision} ${new Date(tickAt).toISOString().slice(11, 16)}`,
  );

describe("in time", () => {
  test("nothing is due before the instant, and the tick is started from it on", () => {
    expect(due(daily, nine - day, nine - 1)).toEqual({ ticks: [], nextAt: nine });
    expect(due(daily, nine - day, nine)).toEqual({
      ticks: [{ tickAt: nine, decision: "start", reason: null }],
      nextAt: nine + day,
    });
  });

  test("a minute late is in time, whatever the policy; a millisecond more is not", () => {
    for (const policy of [skip, last, all(3)]) {
      expect(due(daily, nine - day, nine + minute, policy).ticks).toEqual([
        { tickAt: nine, decision: "start", reason: null },
      ]);
    }
    expect(told(daily, nine - day, nine + minute + 1, skip)).toEqual(["missed 09:00"]);
  });

  test("what is decided already is not due again, also when the clock went back", () => {
    expect(due(daily, nine, nine + 5_000)).toEqual({ ticks: [], nextAt: nine + day });
    expect(due(daily, nine, nine - 25 * hour)).toEqual({ ticks: [], nextAt: nine + day });
  });
});

describe("missed", () => {
  const found = nine + 3 * hour + 2 * minute;

  test("by default the newest one is started", () => {
    expect(told(hourly, nine, found)).toEqual(["missed 10:00", "missed 11:00", "start 12:00"]);
  });

  test("skip starts none of them, but the one that is in time", () => {
    expect(told(hourly, nine, found, skip)).toEqual(["missed 10:00", "missed 11:00", "missed 12:00"]);
    expect(told(hourly, nine, nine + 3 * hour, skip)).toEqual(["missed 10:00", "missed 11:00", "start 12:00"]);
  });

  test("last starts the newest one", () => {
    expect(told(hourly, nine, found, last)).toEqual(["missed 10:00", "missed 11:00", "start 12:00"]);
  });

  test("all starts the newest ones up to its bound, in order", () => {
    expect(told(hourly, nine, found, all(2))).toEqual(["missed 10:00", "start 11:00", "start 12:00"]);
    expect(told(hourly, nine, found, all(50))).toEqual(["start 10:00", "start 11:00", "start 12:00"]);
  });

  test("reasons say which tick, how late, and by which policy", () => {
    const reasons = (policy?: MissedPolicy) => due(daily, nine - 1, found, policy).ticks.map(({ reason }) => reason);
    expect(reasons(skip)).toEqual([
      'tick 2026-11-15T09:00:00Z was missed: found 3 h 2 min late; policy "skip" starts none',
    ]);
    expect(reasons()).toEqual([
      'started 3 h 2 min late: tick 2026-11-15T09:00:00Z was missed; policy "last" starts the newest',
    ]);
    expect(due(daily, nine - day - 1, found).ticks[0]!.reason).toBe(
      'tick 2026-11-14T09:00:00Z was missed: found 1 d 3 h late; policy "last" starts only the newest',
    );
    expect(due(daily, nine - 5 * day, found, all(2)).ticks.map(({ reason }) => reason)).toEqual([
      'tick 2026-11-11T09:00:00Z was missed: found 4 d 3 h late; policy "all" starts only the newest 2',
      'tick 2026-11-12T09:00:00Z was missed: found 3 d 3 h late; policy "all" starts only the newest 2',
      'tick 2026-11-13T09:00:00Z was missed: found 2 d 3 h late; policy "all" starts only the newest 2',
      'started 1 d 3 h late: tick 2026-11-14T09:00:00Z was missed; policy "all" starts the newest 2',
      'started 3 h 2 min late: tick 2026-11-15T09:00:00Z was missed; policy "all" starts the newest 2',
    ]);
    expect(due(daily, nine - day, nine + minute + 5_000, skip).ticks[0]!.reason).toContain("found 1 min 5 s late");
  });

  test("of a year of minutes a hundred are listed, and the oldest of them tells of the others: nothing is silent", () => {
    const { ticks } = due("* * * * *", nine - 365 * day, nine + 30_000);
    const decisions = ticks.map(({ decision }) => decision);
    expect(decisions.filter((decision) => decision === "missed")).toHaveLength(100);
    // The newest missed one, and the two that are in time.
    expect(decisions.slice(100)).toEqual(["start", "start"]);
    expect(ticks[0]!.reason).toContain(
      `; so were ${365 * 1_440 - ticks.length} earlier ticks since 2025-11-15T09:01:00Z`,
    );
    expect(ticks.slice(1).some(({ reason }) => reason?.includes("earlier ticks"))).toBe(false);
  });

  test("deciding in several goes decides what deciding in one go does", () => {
    const schedules = fc.constantFrom("*/7 * * * *", hourly, daily, "TZ=Europe/Paris */20 1-3 * * *");
    const policies = fc.constantFrom(skip, last, all(3), undefined);
    const spans = fc.integer({ min: 0, max: 30 * hour });
    fc.assert(
      fc.property(schedules, policies, spans, fc.nat(20), (cron, policy, span, at) => {
        const now = nine + span;
        const whole = due(cron, nine, now, policy).ticks;
        if (at >= whole.length || whole[0]?.reason?.includes("earlier") === true) return;
        const rest = due(cron, whole[at]!.tickAt, now, policy).ticks;
        expect(rest.map(({ tickAt, decision }) => ({ tickAt, decision }))).toEqual(
          whole.slice(at + 1).map(({ tickAt, decision }) => ({ tickAt, decision })),
        );
      }),
      { numRuns: 200 },
    );
  });

  test("every instant is decided once, by itself or in the sum of an older one, and the next one comes after all of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 * minute }), fc.constantFrom(skip, last, all(7)), (span, policy) => {
        const now = nine + span;
        const { ticks, nextAt } = due("* * * * *", nine, now, policy);
        const summed = Number(
          /were (\d+) earlier|was (1) earlier/
            .exec(ticks[0]?.reason ?? "")
            ?.slice(1)
            .join("") ?? 0,
        );
        expect(ticks.length + summed).toBe(Math.floor(span / minute));
        expect(ticks.every(({ tickAt }, i) => i === 0 || tickAt > ticks[i - 1]!.tickAt)).toBe(true);
        expect(nextAt).toBe(nextTick("* * * * *", now));
      }),
      { numRuns: 200 },
    );
  });
});
