import fc from "fast-check";
import { expect, test } from "vitest";
import { durationMsMax, parseDuration, parseInstant } from "./duration.ts";
import { IdemError } from "./errors.ts";

const refusal = (call: () => unknown): IdemError => {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(IdemError);
    expect((error as IdemError).code).toBe("DURATION_INVALID");
    return error as IdemError;
  }
  throw new Error("nothing was refused");
};

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["10m", 600_000],
  ["1h30m", 5_400_000],
  ["1h 30m", 5_400_000],
  ["1.5h", 5_400_000],
  ["1.1h", 3_960_000],
  [".5s", 500],
  ["7d", 604_800_000],
  ["2w", 1_209_600_000],
  ["1d2h", 93_600_000],
  ["10 minutes", 600_000],
  ["2 days", 172_800_000],
  ["1 hr", 3_600_000],
  ["1 Week", 604_800_000],
  ["1y", 31_557_600_000],
  ["0s", 0],
  [" 5s ", 5_000],
  [0, 0],
  [1500, 1500],
])("the duration %j is %d milliseconds", (written, ms) => {
  expect(parseDuration(written)).toBe(ms);
});

test.each([
  "",
  "  ",
  "abc",
  "5 parsecs",
  "-5s",
  "1h-30m",
  "500",
  "h",
  "1h!",
  "1e3s",
  "Infinity",
  "NaN",
  "1".repeat(200),
])("the duration %j is refused", (written) => {
  refusal(() => parseDuration(written));
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, [], true])(
  "the value %j is refused as a duration",
  (value) => {
    refusal(() => parseDuration(value as never));
  },
);

test("a duration of 366 days is taken, a millisecond more is refused and the message names the bound", () => {
  expect(parseDuration("366d")).toBe(durationMsMax);
  expect(refusal(() => parseDuration(durationMsMax + 1)).message).toContain("366 days");
  expect(refusal(() => parseDuration("53w")).message).toContain("366 days");
});

test("a refused duration names the option it was given for", () => {
  expect(refusal(() => parseDuration("soon", "timeouts.finish")).message).toContain("timeouts.finish");
});

test("any text is either a whole number of milliseconds within the bound or refused with DURATION_INVALID", () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom("1", "2.5", ".", "h", "m", " ", "d", "ms", "-", "days"));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      try {
        const ms = parseDuration(pieces.join(""));
        expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= durationMsMax).toBe(true);
      } catch (error) {
        expect((error as IdemError).code).toBe("DURATION_INVALID");
      }
    }),
  );
});

test("an instant is the same for a Date, its ISO string, its milliseconds and a Temporal instant", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      const ms = date.getTime();
      expect(parseInstant(date)).toBe(ms);
      expect(parseInstant(date.toISOString())).toBe(ms);
      expect(parseInstant(ms)).toBe(ms);
      expect(parseInstant({ epochMilliseconds: ms })).toBe(ms);
    }),
  );
});

test.each([
  ["2030-01-31", "2030-01-31T00:00:00.000Z"],
  ["2030-01-31T09:00:00", "2030-01-31T09:00:00.000Z"],
  ["2030-01-31T09:00", "2030-01-31T09:00:00.000Z"],
  ["2030-01-31 09:00:00.5Z", "2030-01-31T09:00:00.500Z"],
  ["2030-01-31T09:00:00+02:00", "2030-01-31T07:00:00.000Z"],
  ["2030-01-31T09:00:00-0530", "2030-01-31T14:30:00.000Z"],
  ["2030-01-31T09:00:00.123456789Z", "2030-01-31T09:00:00.123Z"],
])("the instant %s is %s wherever it is read", (written, iso) => {
  expect(new Date(parseInstant(written)).toISOString()).toBe(iso);
});

test.each([
  "",
  "tomorrow",
  "2030-02-30",
  "2030-13-01",
  "2030-01-31T25:00:00Z",
  "12",
  new Date("x"),
  Number.NaN,
  null,
  {},
])("the value %j is refused as an instant", (value) => {
  refusal(() => parseInstant(value as never));
});

test("an instant outside what a Date can hold is refused", () => {
  expect(parseInstant(8.64e15)).toBe(8.64e15);
  refusal(() => parseInstant(8.64e15 + 1));
  refusal(() => parseInstant(Number.NEGATIVE_INFINITY));
});
