import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jitterOf, nextTick, ticksBetween } from "./cron.ts";
import { IdemError } from "./errors.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Ticks in `from < tick ≤ until`, found one after the other. */
function walk(cron: string, from: number, until: number): number[] {
  const ticks: number[] = [];
  for (let tick = nextTick(cron, from); tick !== null && tick <= until; tick = nextTick(cron, tick)) ticks.push(tick);
  return ticks;
}

const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
const ticksOn = (cron: string, from: string, until: string): string[] =>
  walk(cron, Date.parse(`${from}Z`), Date.parse(`${until}Z`)).map(iso);

/** "2026-03-29 03:00" */
function wall(zone: string, at: number): string {
  const parts = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return parts.format(at);
}

describe("ordinary days", () => {
  test.each([
    ["*/15 * * * *", "2026-01-01T00:00", ["2026-01-01T00:15", "2026-01-01T00:30", "2026-01-01T00:45"]],
    ["0 9 * * *", "2026-01-01T09:00", ["2026-01-02T09:00", "2026-01-03T09:00"]],
    ["0 9 * * MON-FRI", "2026-01-01T10:00", ["2026-01-02T09:00", "2026-01-05T09:00"]],
    ["0 9 * * sat,sun", "2026-01-01T10:00", ["2026-01-03T09:00", "2026-01-04T09:00"]],
    ["0 9 * * 7", "2026-01-01T10:00", ["2026-01-04T09:00", "2026-01-11T09:00"]],
    ["0 9 * * 5-7", "2026-01-01T10:00", ["2026-01-02T09:00", "2026-01-03T09:00", "2026-01-04T09:00"]],
    ["0 9 * * FRI-SUN", "2026-01-01T10:00", ["2026-01-02T09:00", "2026-01-03T09:00", "2026-01-04T09:00"]],
    ["0 0 31 * *", "2026-01-31T00:00", ["2026-03-31T00:00", "2026-05-31T00:00"]],
    ["0 0 */15 * *", "2031-02-16T00:00", ["2031-03-01T00:00", "2031-03-16T00:00", "2031-03-31T00:00"]],
    ["0 0 30 1,2 *", "2026-01-30T00:00", ["2027-01-30T00:00"]],
    ["0 0 29 2 *", "2026-01-01T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]],
    ["0 0 29 2 *", "2096-02-29T00:00", ["2104-02-29T00:00"]],
    ["5-15/5 10-14/2 * * *", "2026-01-01T10:10", ["2026-01-01T10:15", "2026-01-01T12:05"]],
    ["59 23 31 12 *", "2026-01-01T00:00", ["2026-12-31T23:59", "2027-12-31T23:59"]],
    ["0 0 1 JAN-MAR *", "2026-01-01T00:00", ["2026-02-01T00:00", "2026-03-01T00:00", "2027-01-01T00:00"]],
    // Both kinds of day: either will do, unless one of them is open.
    ["0 0 13 * FRI", "2026-01-01T00:00", ["2026-01-02T00:00", "2026-01-09T00:00", "2026-01-13T00:00"]],
    ["0 0 */1 * FRI", "2026-01-01T00:00", ["2026-01-02T00:00", "2026-01-09T00:00"]],
    ["TZ=UTC 0 0 * * *", "2026-01-01T00:00", ["2026-01-02T00:00"]],
    ["TZ=Asia/Kolkata 0 9 * * *", "2026-01-01T00:00", ["2026-01-01T03:30", "2026-01-02T03:30"]],
    ["TZ=Pacific/Kiritimati 0 0 1 1 *", "2026-06-01T00:00", ["2026-12-31T10:00"]],
  ])("%s after %s", (cron, after, expected) => {
    const ticks = walk(cron, Date.parse(`${after}Z`), Date.parse(`${expected.at(-1)}Z`));
    expect(ticks.map(iso)).toEqual(expected);
  });

  test("a tick is strictly after the instant asked for, to the millisecond", () => {
    const tick = Date.UTC(2026, 0, 1, 9);
    expect(nextTick("0 9 * * *", tick - 1)).toBe(tick);
    expect(nextTick("0 9 * * *", tick)).toBe(tick + day);
    expect(nextTick("0 9 * * *", tick - 0.5)).toBe(tick);
  });

  test("instants nobody meant are answered too: before 1970 begins with 1970, after the year 9999 nothing comes", () => {
    for (const after of [-1, -day * 1e6, Number.NEGATIVE_INFINITY, Number.NaN]) {
      expect(nextTick("0 0 * * *", after)).toBe(0);
    }
    for (const after of [Date.UTC(9999, 11, 31, 23, 59), 8.64e15, Number.POSITIVE_INFINITY]) {
      expect(nextTick("* * * * *", after)).toBeNull();
      expect(nextTick("TZ=Europe/Paris 0 0 29 2 *", after)).toBeNull();
    }
  });

  test("text that is no schedule is refused whatever is asked of it", () => {
    expect(() => nextTick("0 0 31 2 *", 0)).toThrow(IdemError);
    expect(() => ticksBetween("nonsense", 0, 1, 1)).toThrow(expect.objectContaining({ code: "CRON_INVALID" }));
  });
});

describe("days on which clocks change", () => {
  const days = [
    {
      // 29 March 2026: 02:00 becomes 03:00. 25 October 2026: 03:00 becomes 02:00.
      zone: "Europe/Paris",
      spring: ["2026-03-28T23:00", "2026-03-29T21:59"],
      autumn: ["2026-10-24T22:00", "2026-10-25T22:59"],
      gap: ["30 2 * * *", "2026-03-29T01:00"],
      twice: ["30 2 * * *", "2026-10-25T00:30"],
      hours: [23, 25],
    },
    {
      // 8 March 2026: 02:00 becomes 03:00. 1 November 2026: 02:00 becomes 01:00.
      zone: "America/New_York",
      spring: ["2026-03-08T05:00", "2026-03-09T03:59"],
      autumn: ["2026-11-01T04:00", "2026-11-02T04:59"],
      gap: ["30 2 * * *", "2026-03-08T07:00"],
      twice: ["30 1 * * *", "2026-11-01T05:30"],
      hours: [23, 25],
    },
    {
      // 4 October 2026: 02:00 becomes 02:30. 5 April 2026: 02:00 becomes 01:30.
      zone: "Australia/Lord_Howe",
      spring: ["2026-10-03T13:30", "2026-10-04T12:59"],
      autumn: ["2026-04-04T13:00", "2026-04-05T13:29"],
      gap: ["15 2 * * *", "2026-10-03T15:30"],
      twice: ["45 1 * * *", "2026-04-04T14:45"],
      hours: [23.5, 24.5],
    },
  ] as const;

  describe.each(days)("$zone", ({ zone, spring, autumn, gap, twice, hours }) => {
    const tz = `TZ=${zone}`;
    // The bounds are the first and the last minute of the local day.
    const on = (cron: string, [from, until]: readonly [string, string]) =>
      walk(`${tz} ${cron}`, Date.parse(`${from}Z`) - 1, Date.parse(`${until}Z`));

    test("a time that does not exist is ticked at the first instant after the gap, once", () => {
      expect(on(gap[0], spring).map(iso)).toEqual([gap[1]]);
      const ofDay = on(gap[0].replace(/^\d+/, "*/5"), spring);
      expect(ofDay.filter((at) => iso(at) === gap[1])).toHaveLength(1);
      expect(new Set(ofDay).size).toBe(ofDay.length);
    });

    test("a time that comes twice is ticked the first time only", () => {
      expect(on(twice[0], autumn).map(iso)).toEqual([twice[1]]);
    });

    test("times of day that neither are missing nor repeat are ticked on their wall time, on both days", () => {
      for (const bounds of [spring, autumn]) {
        expect(on("0 9,18 * * *", bounds).map((at) => wall(zone, at).slice(11))).toEqual(["09:00", "18:00"]);
        expect(on("0 0 * * *", bounds).map((at) => wall(zone, at).slice(11))).toEqual(["00:00"]);
      }
    });

    test("schedules with an open hour follow the hours as they pass: the missing one is skipped, the repeated one ticks twice", () => {
      const [springHours, autumnHours] = hours;
      for (const [bounds, length] of [
        [spring, springHours],
        [autumn, autumnHours],
      ] as const) {
        const halves = on("*/30 * * * *", bounds);
        expect(halves).toHaveLength(length * 2);
        expect(halves.every((at, i) => i === 0 || at - halves[i - 1]! === hour / 2)).toBe(true);
        for (const at of on("0 * * * *", bounds)) expect(wall(zone, at)).toMatch(/:00$/);
      }
      const shown = (bounds: readonly [string, string]) =>
        on("0 * * * *", bounds).map((at) => wall(zone, at).slice(11));
      if (zone === "Australia/Lord_Howe") {
        expect(shown(spring)).not.toContain("02:00");
        expect(shown(autumn).filter((time) => time === "02:00")).toHaveLength(1);
      } else {
        expect(shown(spring)).toHaveLength(23);
        expect(shown(autumn)).toHaveLength(25);
      }
    });

    test("a list of every hour names times of day, and ticks each of them once", () => {
      const named = on("0 0-23 * * *", autumn).map((at) => wall(zone, at).slice(11));
      expect(named).toHaveLength(24);
      expect(new Set(named).size).toBe(24);
    });
  });

  test("a midnight that does not exist is ticked when its day begins", () => {
    // Cairo, 24 April 2026: 00:00 becomes 01:00.
    expect(ticksOn("TZ=Africa/Cairo 0 0 * * *", "2026-04-23T12:00", "2026-04-25T12:00")).toEqual([
      "2026-04-23T22:00",
      "2026-04-24T21:00",
    ]);
  });

  test("a day that was skipped altogether is ticked at the end of the gap", () => {
    // Samoa had no 30 December 2011.
    expect(ticksOn("TZ=Pacific/Apia 0 9 30 12 *", "2011-12-01T00:00", "2012-01-31T00:00")).toEqual([
      "2011-12-30T10:00",
    ]);
  });

  test("an hour that comes again at the end of the schedule's last day ticks again where hours are open", () => {
    // Asunción, 27 March 2022: 00:00 becomes 23:00 of the 26th.
    expect(ticksOn("TZ=America/Asuncion 0 */23 26 3 *", "2022-03-26T12:00", "2023-01-01T00:00")).toEqual([
      "2022-03-27T02:00",
      "2022-03-27T03:00",
    ]);
    expect(ticksOn("TZ=America/Asuncion 0 0,23 26 3 *", "2022-03-26T12:00", "2023-01-01T00:00")).toEqual([
      "2022-03-27T02:00",
    ]);
  });
});

describe("whatever the schedule and the zone", () => {
  const zones = Intl.supportedValuesOf("timeZone");
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant("*"),
      fc.integer({ min, max }).map(String),
      // A step of one is a star here, as for Vixie; croner takes it for a narrowed field.
      fc.integer({ min: 2, max: max - min }).map((step) => `*/${step}`),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: 5 }))
        .map(([a, b, step]) => {
          const range = `${Math.min(a, b)}-${Math.max(a, b)}`;
          return step === 1 ? range : `${range}/${step}`;
        }),
      fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map((list) => list.join(",")),
    );
  const fields = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7))
    .map((all) => all.join(" "));
  const zone = fc.constantFrom(...zones);
  const instant = fc.integer({ min: Date.UTC(1975, 0, 1), max: Date.UTC(2060, 0, 1) });

  const formats = new Map<string, Intl.DateTimeFormat>();
  const offsetAt = (name: string, at: number): number => {
    const options = { timeZone: name, dateStyle: "short", timeStyle: "medium" } as const;
    const format = formats.get(name) ?? new Intl.DateTimeFormat("sv-SE", options);
    formats.set(name, format);
    return Date.parse(`${format.format(at).replace(" ", "T")}Z`) - Math.floor(at / 1_000) * 1_000;
  };
  /** No change of the offset near this stretch of time. */
  const isCalm = (name: string, from: number, until: number): boolean => {
    const offset = offsetAt(name, from - 2 * day);
    for (let at = from - day; at <= until + 2 * day; at += day) if (offsetAt(name, at) !== offset) return false;
    return true;
  };

  // croner 11.0.0 may step over 1 March when it comes from February ("0 0 */15 * *" after 16 February 2031).
  const isSure = (from: number, tick: number): boolean =>
    new Date(from - day).getUTCMonth() !== 1 || new Date(tick + day).getUTCMonth() === 1;

  test("away from changes of the clock, ticks are those that croner finds", () => {
    fc.assert(
      fc.property(fields, zone, instant, (pattern, name, from) => {
        const expected = new Cron(pattern, { mode: "5-part", timezone: name }).nextRun(new Date(from))!.getTime();
        fc.pre(isSure(from, expected) && expected - from < 40 * day && isCalm(name, from, expected));
        expect(nextTick(`TZ=${name} ${pattern}`, from)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("in UTC, however far away, ticks are those that croner finds", () => {
    fc.assert(
      fc.property(fields, instant, (pattern, from) => {
        const expected = new Cron(pattern, { mode: "5-part", timezone: "UTC" }).nextRun(new Date(from))!.getTime();
        fc.pre(isSure(from, expected));
        expect(nextTick(pattern, from)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  /** Whether a wall time is in the schedule, read as simply as it can be. */
  const names = (pattern: string, wallMs: number): boolean => {
    const at = new Date(wallMs);
    const has = (text: string, value: number, min: number, max: number): boolean =>
      text.split(",").some((item) => {
        const [range, step = "1"] = item.split("/");
        const [low, high = low] = range === "*" ? [String(min), String(max)] : range!.split("-");
        return value >= Number(low) && value <= Number(high) && (value - Number(low)) % Number(step) === 0;
      });
    const [minutes, hours, dates, months, weekdays] = pattern.split(" ") as [string, string, string, string, string];
    const byDate = has(dates, at.getUTCDate(), 1, 31);
    const byWeekday = has(weekdays, at.getUTCDay(), 0, 6) || (at.getUTCDay() === 0 && has(weekdays, 7, 0, 6));
    return (
      has(minutes, at.getUTCMinutes(), 0, 59) &&
      has(hours, at.getUTCHours(), 0, 23) &&
      has(months, at.getUTCMonth() + 1, 1, 12) &&
      (dates === "*" || weekdays === "*" ? byDate && byWeekday : byDate || byWeekday)
    );
  };

  /** The rules applied to every minute, one after the other. */
  function everyMinute(pattern: string, name: string, after: number, until: number): number[] {
    const isOpen = pattern.split(" ")[1]!.startsWith("*");
    const ticks: number[] = [];
    const shown = new Set<number>();
    const start = Math.ceil((after - day) / minute) * minute;
    for (let at = start, before = offsetAt(name, start); at <= until; at += minute) {
      const offset = offsetAt(name, at);
      let ticksNow = names(pattern, at + offset) && (isOpen || !shown.has(at + offset));
      for (let missing = at + before; !isOpen && missing < at + offset; missing += minute) {
        if (names(pattern, missing)) ticksNow = true;
      }
      shown.add(at + offset);
      before = offset;
      if (ticksNow && at > after) ticks.push(at);
    }
    return ticks;
  }

  test("around changes of the clock, ticks are those of the rules, only grow, and are counted as they are found", () => {
    const changes = [
      "Europe/Paris",
      "America/New_York",
      "Australia/Lord_Howe",
      "America/Asuncion",
      "Africa/Cairo",
    ].flatMap((name) => {
      const days = Array.from({ length: 2_000 }, (_, i) => Date.UTC(2021, 0, 1) + i * day);
      return days
        .filter((at) => offsetAt(name, at) !== offsetAt(name, at + day))
        .map((at) => ({ name, from: at - day }));
    });
    expect(changes.length).toBeGreaterThan(30);
    const anyMonth = fc
      .tuple(field(0, 59), field(0, 23), field(1, 28), field(0, 7))
      .map(([m, h, d, w]) => `${m} ${h} ${d} * ${w}`);
    fc.assert(
      fc.property(anyMonth, fc.constantFrom(...changes), fc.integer({ min: 0, max: day }), (pattern, change, more) => {
        const cron = `TZ=${change.name} ${pattern}`;
        const [after, until] = [change.from + more, change.from + more + 2 * day];
        const ticks = walk(cron, after, until);
        expect(ticks).toEqual(everyMinute(pattern, change.name, after, until));
        expect(ticks.every((at, i) => at > (i === 0 ? after : ticks[i - 1]!))).toBe(true);
        expect(ticksBetween(cron, after, until, 10_000)).toEqual({ ticks, omitted: 0, firstOmitted: null });
        const few = ticksBetween(cron, after, until, 3);
        expect(few.ticks).toEqual(ticks.slice(-3));
        expect(few.omitted).toBe(Math.max(0, ticks.length - 3));
        expect(few.firstOmitted).toBe(ticks.length > 3 ? ticks[0] : null);
      }),
      { numRuns: 40 },
    );
  });

  test("the same question has the same answer in whatever order questions are asked", () => {
    fc.assert(
      fc.property(fields, zone, fc.array(instant, { minLength: 2, maxLength: 6 }), (pattern, name, instants) => {
        const cron = `TZ=${name} ${pattern}`;
        const asked = instants.map((at) => nextTick(cron, at));
        const again = [...instants].reverse().map((at) => nextTick(cron, at));
        expect(again.reverse()).toEqual(asked);
      }),
      { numRuns: 100 },
    );
  });
});

describe("counting what was missed", () => {
  const until = Date.UTC(2026, 6, 1, 12, 0, 30);

  test("a year of every minute is counted, and its newest are listed", () => {
    const { ticks, omitted, firstOmitted } = ticksBetween("TZ=Europe/Paris * * * * *", until - 365 * day, until, 100);
    expect(ticks).toHaveLength(100);
    expect(ticks.at(-1)).toBe(Date.UTC(2026, 6, 1, 12));
    expect(omitted + ticks.length).toBe(365 * 1_440);
    expect(firstOmitted).toBe(Date.UTC(2025, 6, 1, 12, 1));
  });

  test("so is a clock that stood at 1970", () => {
    const { ticks, omitted, firstOmitted } = ticksBetween("* * * * *", 0, until, 2);
    expect(ticks.map(iso)).toEqual(["2026-07-01T11:59", "2026-07-01T12:00"]);
    expect(omitted).toBe(Math.floor(until / minute) - 2);
    expect(firstOmitted).toBe(minute);
  });

  test("nothing lies in an empty or inverted stretch", () => {
    expect(ticksBetween("* * * * *", until, until, 5)).toEqual({ ticks: [], omitted: 0, firstOmitted: null });
    expect(ticksBetween("* * * * *", until, until - day, 5)).toEqual({ ticks: [], omitted: 0, firstOmitted: null });
  });
});

describe("jitter", () => {
  test("is the same for a tick whoever asks, in its bounds, and spread over them", () => {
    const jitters = Array.from({ length: 500 }, (_, i) => jitterOf(`shop-fn-${i}`, 1_000_000, 10_000));
    expect(jitters).toEqual(Array.from({ length: 500 }, (_, i) => jitterOf(`shop-fn-${i}`, 1_000_000, 10_000)));
    expect(Math.min(...jitters)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...jitters)).toBeLessThanOrEqual(10_000);
    expect(jitters.filter((ms) => ms < 5_000).length).toBeGreaterThan(150);
    expect(jitters.filter((ms) => ms >= 5_000).length).toBeGreaterThan(150);
    expect(jitterOf("shop-fn-1", 1_000_000, 10_000)).not.toBe(jitterOf("shop-fn-1", 1_060_000, 10_000));
  });

  test("of nothing is nothing", () => {
    for (const ms of [0, -1, Number.NaN]) expect(jitterOf("shop-fn", 0, ms)).toBe(0);
  });
});
