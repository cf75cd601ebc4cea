// The instant of a schedule that a call is about: the last that was due, by the database's clock. Not the time of the call, which is late by
// however long the scheduler took; not a counter, which two callers count differently. Days on which clocks change are model/cron.ts's matter.
import { createHash } from "node:crypto";
import { nextTick, parseCron, ticksBetween } from "../../model/cron.ts";

export interface DueTick {
  /** Null: the schedule has not been due yet. */
  readonly last: number | null;
  readonly next: number | null;
}

/** As model/cron.ts reads it. Throws CRON_INVALID. */
export function cronOf(schedule: string, zone: string | undefined): string {
  const cron = zone === undefined ? schedule : `TZ=${zone} ${schedule}`;
  parseCron(cron);
  return cron;
}

const dayMs = 86_400_000;

// A month covers what people schedule; 29 February comes after up to 8 years.
const lookBackMs = [32 * dayMs, 3_000 * dayMs];

export function dueTick(cron: string, now: number): DueTick {
  for (const ms of lookBackMs) {
    const { ticks } = ticksBetween(cron, now - ms, now, 1);
    if (ticks[0] !== undefined) return { last: ticks[0], next: nextTick(cron, now) };
  }
  return { last: null, next: nextTick(cron, now) };
}

/** Whether the schedule ticks at this very instant. */
export const isTick = (cron: string, at: number): boolean => Number.isSafeInteger(at) && nextTick(cron, at - 1) === at;

/**
 * A call this long before a tick may be meant for it: a scheduler whose clock is ahead. At most a tenth of the time between two ticks, so
 * that a call is never far from the one it stands for.
 */
export function earlyByMs({ last, next }: DueTick, now: number, earlyMs: number): number | null {
  if (next === null) return null;
  const gapMs = last === null ? Number.POSITIVE_INFINITY : next - last;
  return next - now <= Math.min(earlyMs, gapMs / 10) ? next - now : null;
}

/** Of a tick, or of one item of its work: the same on every attempt, and within every provider's bounds. */
export function tickKey(schedule: string, instant: number, item?: string): string {
  const parts = JSON.stringify(item === undefined ? [schedule, instant] : [schedule, instant, item]);
  return `idem_${createHash("sha256").update(parts).digest("base64url").slice(0, 40)}`;
}
