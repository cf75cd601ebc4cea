// Cron schedules as people write them: five fields, optionally after a zone, "TZ=Europe/Paris 0 9 * * 1"; and the instants they
// mean. Only what every cron knows is taken: extensions such as "L" or "?" mean different things to different readers.
//
// Days on which clocks change (docs/states.md#a-cron-tick): a schedule that names hours means times of day, so one that does
// not exist is ticked at the first instant after the gap, and one that comes twice the first time only. A schedule whose hour
// begins with a star means the hours as they pass: it ticks in both of the repeated ones and has none where one is missing.
import { createHash } from "node:crypto";
import { CronFields, FieldRefused } from "./cron-fields.ts";
import { errors } from "./errors.ts";
import { utc, type Zone, zoneOf } from "./zone.ts";

export interface CronSchedule {
  /** An IANA zone; null means UTC. */
  readonly zone: string | null;
  /** The five fields, separated by single spaces. */
  readonly fields: string;
}

// The longest sensible one lists every minute and hour, about 250 characters; longer text is not a schedule.
const textLengthMax = 400;

const dayMs = 86_400_000;

// The last minute that is written with a year of four digits.
const instantMax = Date.UTC(9999, 11, 31, 23, 59);

/** Throws CRON_INVALID. */
export function parseCron(text: string): CronSchedule {
  const { zone, fields } = scheduleOf(text);
  return { zone, fields };
}

/** The first tick after this instant; null when there is none before the year 10,000. Throws CRON_INVALID. */
export function nextTick(cron: string, after: number): number | null {
  return scheduleOf(cron).next(after);
}

export interface TicksBetween {
  /** In order of time. */
  readonly ticks: readonly number[];
  /** The number of older ones. */
  readonly omitted: number;
  readonly firstOmitted: number | null;
}

/**
 * The newest `max` ticks in `after < tick ≤ until`. The others are counted without being listed: a year of every minute takes
 * some 200 µs. Throws CRON_INVALID.
 */
export function ticksBetween(cron: string, after: number, until: number, max: number): TicksBetween {
  return scheduleOf(cron).between(after, until, max);
}

/** By how much a tick's run is put off: 0 to `jitterMs`, the same in every process. */
export function jitterOf(fn: string, tickAt: number, jitterMs: number): number {
  if (!(jitterMs > 0)) return 0;
  const chance =
    createHash("sha256")
      .update(JSON.stringify([fn, tickAt]))
      .digest()
      .readUIntBE(0, 6) /
    2 ** 48;
  return Math.floor(chance * (Math.floor(jitterMs) + 1));
}

// Twice the functions an environment is built for; each takes about a kilobyte.
const schedulesMax = 20_000;
const schedules = new Map<string, Schedule>();

function scheduleOf(text: string): Schedule {
  const known = schedules.get(text);
  if (known !== undefined) return known;
  const schedule = readSchedule(text);
  if (schedules.size >= schedulesMax) schedules.delete(schedules.keys().next().value!);
  schedules.set(text, schedule);
  return schedule;
}

function readSchedule(text: string): Schedule {
  const refuse = (why: string) => errors.CRON_INVALID({ value: String(text).slice(0, textLengthMax), why });
  if (typeof text !== "string") throw errors.CRON_INVALID({ value: typeof text, why: "it is not a string" });
  if (text.length > textLengthMax) throw refuse(`it is longer than ${textLengthMax} characters`);
  const parts = text.trim().split(/[ \t]+/);
  const name = parts[0]!.startsWith("TZ=") ? parts.shift()!.slice("TZ=".length) : null;
  const zone = name === null ? utc : zoneOf(name);
  if (zone === null) throw refuse(`"${name}" is not a zone such as Europe/Paris`);
  if (parts.length !== 5 || parts[0] === "") {
    throw refuse(`it has ${parts[0] === "" ? 0 : parts.length} fields, not five`);
  }
  try {
    return new Schedule(name, parts.join(" "), zone, new CronFields(parts));
  } catch (error) {
    throw error instanceof FieldRefused ? refuse(error.why) : error;
  }
}

class Schedule implements CronSchedule {
  /** The last answer holds for every instant from the one it was asked for up to itself. */
  private asked = 0;
  private answered: number | null = 0;

  constructor(
    readonly zone: string | null,
    readonly fields: string,
    private readonly time: Zone,
    private readonly pattern: CronFields,
  ) {}

  next(after: number): number | null {
    // Nothing ticks before 1970; an instant that is no number is before everything.
    const from = after >= 0 ? Math.floor(after) : -1;
    if (this.answered === null ? from >= this.asked : from >= this.asked && from < this.answered) return this.answered;
    this.answered = this.find(from);
    this.asked = from;
    return this.answered;
  }

  private find(after: number): number | null {
    const { pattern, time } = this;
    for (let at = after + 1; at <= instantMax; ) {
      const stretch = time.stretchAt(at);
      const { to, offset } = stretch;
      if (this.ticksAfterGap(at, stretch)) return at;
      const wall = pattern.next(this.lowestWall(at, stretch));
      if (wall - offset < to) return wall - offset <= instantMax ? wall - offset : null;
      // No offset differs from another by more than a day, so nothing shown until a day before that wall time is in the
      // schedule, unless it is something shown again.
      at = to - at < dayMs ? to : Math.max(to, wall - 2 * dayMs);
    }
    return null;
  }

  between(after: number, until: number, max: number): TicksBetween {
    const from = after >= 0 ? Math.floor(after) : -1;
    const end = Math.min(Math.floor(until), instantMax);
    const total = this.count(from, end);
    const start = total <= max ? from : this.startOfNewest(from, end, max);
    const ticks: number[] = [];
    for (let tick = this.find(start); tick !== null && tick <= end; tick = this.find(tick)) ticks.push(tick);
    const omitted = total - ticks.length;
    return { ticks, omitted, firstOmitted: omitted === 0 ? null : this.find(from) };
  }

  /** The earliest instant after which there are at most `max` ticks. */
  private startOfNewest(from: number, end: number, max: number): number {
    let few = end;
    let spanMs = dayMs;
    while (end - spanMs > from && this.count(end - spanMs, end) <= max) {
      few = end - spanMs;
      spanMs *= 2;
    }
    let many = Math.max(from, end - spanMs);
    while (few - many > 1) {
      const middle = Math.floor((few + many) / 2);
      if (this.count(middle, end) <= max) few = middle;
      else many = middle;
    }
    return few;
  }

  /** Counts the ticks in `after < tick ≤ until`. */
  private count(after: number, until: number): number {
    let count = 0;
    for (let at = after + 1; at <= until; ) {
      const stretch = this.time.stretchAt(at);
      const end = Math.min(stretch.to, until + 1);
      let lowest = this.lowestWall(at, stretch);
      if (this.ticksAfterGap(at, stretch)) {
        count++;
        // A time that is the end of the gap itself is the same tick.
        lowest++;
      }
      count += this.pattern.count(lowest, end + stretch.offset);
      at = end;
    }
    return count;
  }

  /** Whether this instant ends a gap that holds a time of the schedule. */
  private ticksAfterGap(at: number, { from, before, offset }: ReturnType<Zone["stretchAt"]>): boolean {
    if (this.pattern.isHourOpen || before === null || at !== from) return false;
    return this.pattern.next(from + before) < from + offset;
  }

  private lowestWall(at: number, { offset, shown }: ReturnType<Zone["stretchAt"]>): number {
    return this.pattern.isHourOpen ? at + offset : Math.max(at + offset, shown);
  }
}
