// Durations and instants as people write them, turned into whole milliseconds.
// Nothing here reads a clock or the machine's time zone: the same text means the same number on every node.

import { errors } from "./errors.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** 366 days, the longest sleep or wait Inngest takes; a longer one is nearly always seconds mistaken for milliseconds. */
export const durationMsMax = 366 * dayMs;

// The last instant a Date can hold (ECMAScript, "Time Values and Time Range").
const instantMsMax = 8.64e15;

// The spellings of the `ms` package, which Inngest's SDK uses, so that a duration written for it means the same here.
const unitMs: ReadonlyMap<string, number> = new Map(
  (
    [
      [["ms", "msec", "msecs", "millisecond", "milliseconds"], 1],
      [["s", "sec", "secs", "second", "seconds"], secondMs],
      [["m", "min", "mins", "minute", "minutes"], minuteMs],
      [["h", "hr", "hrs", "hour", "hours"], hourMs],
      [["d", "day", "days"], dayMs],
      [["w", "week", "weeks"], 7 * dayMs],
      [["y", "yr", "yrs", "year", "years"], 365.25 * dayMs],
    ] as const
  ).flatMap(([names, ms]) => names.map((name) => [name, ms] as const)),
);

// Longer text is not a duration; the bound keeps error messages and matching short.
const textLengthMax = 100;

/** `parseDuration("1h30m")` is 5,400,000. Numbers are milliseconds. `what` names the option in the error. */
export function parseDuration(value: string | number, what?: string, msMax = durationMsMax): number {
  const refuse = (why: string) =>
    errors.DURATION_INVALID({ value: shown(value), why: what === undefined ? why : `${why} (in ${what})` });
  let ms: number;
  if (typeof value === "number") {
    ms = value;
  } else if (typeof value === "string") {
    const text = value.trim();
    if (text === "") throw refuse("it is empty");
    if (text.length > textLengthMax) throw refuse(`it is longer than ${textLengthMax} characters`);
    const parts = /(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*/giy;
    ms = 0;
    while (parts.lastIndex < text.length) {
      const part = parts.exec(text);
      if (part === null) throw refuse(text.startsWith("-") ? "it is negative" : "it is not a row of numbers and units");
      const [, count, unit] = part as unknown as [string, string, string];
      if (unit === "") throw refuse(`${count} has no unit; give a number instead of a string to mean milliseconds`);
      const factor = unitMs.get(unit.toLowerCase());
      if (factor === undefined) throw refuse(`the unit "${unit}" is not known`);
      ms += Number(count) * factor;
    }
  } else {
    throw refuse("it is neither a string nor a number");
  }
  if (!Number.isFinite(ms)) throw refuse("it is not a finite number");
  if (ms < 0) throw refuse("it is negative");
  if (ms > msMax) throw refuse(`it is longer than the ${Math.floor(msMax / dayMs)} days allowed`);
  // Whole milliseconds, because a store's columns are integers and 1.1 h is 3960000.0000000005 in binary.
  return Math.round(ms);
}

/** Of a window or a limit: one that is over at once is a mistake. `refuse` makes the reader's own error. */
export function lasting(
  ms: number,
  option: string,
  refuse = (option: string, why: string): Error => errors.OPTION_INVALID({ option, why }),
): number {
  if (ms > 0) return ms;
  throw refuse(option, "it must be longer than 0");
}

/** Taken by `step.sleepUntil`; the object form is a Temporal.Instant or ZonedDateTime. */
export type InstantInput = Date | string | number | { readonly epochMilliseconds: number };

const isoPattern =
  /^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(?:(Z)|([+-]\d\d):?(\d\d)?)?)?$/i;

/** Milliseconds since 1970. An ISO string without a zone is UTC: the machine's own zone may differ between two nodes. */
export function parseInstant(value: InstantInput, what?: string): number {
  const refuse = (why: string) =>
    errors.DURATION_INVALID({ value: shown(value), why: what === undefined ? why : `${why} (in ${what})` });
  let ms: unknown;
  if (typeof value === "number") ms = value;
  else if (typeof value === "string") ms = parseIso(value);
  else if (value instanceof Date) ms = value.getTime();
  else ms = (value as { epochMilliseconds?: unknown } | null)?.epochMilliseconds;
  if (typeof ms !== "number" || Number.isNaN(ms)) {
    throw refuse('it is not an instant: a Date, an ISO 8601 string such as "2030-01-31T09:00:00Z", or milliseconds');
  }
  if (Math.abs(ms) > instantMsMax) throw refuse("it lies outside the instants a Date can hold");
  return Math.round(ms);
}

function parseIso(text: string): number {
  const match = text.length > textLengthMax ? null : isoPattern.exec(text.trim());
  if (match === null) return Number.NaN;
  const [, year, month, day, hourMinute = "00:00", second = "00", fraction = "0", , zoneHour, zoneMinute = "00"] =
    match;
  // Date.parse turns 30 February into 2 March; a date that does not exist is a mistake, not a date.
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return Number.NaN;
  const zone = zoneHour === undefined ? "Z" : `${zoneHour}:${zoneMinute}`;
  return Date.parse(`${year}-${month}-${day}T${hourMinute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}${zone}`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return value.length > textLengthMax ? `${value.slice(0, textLengthMax)}…` : value;
  if (typeof value === "number" || value === null || value === undefined) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  return typeof value;
}
