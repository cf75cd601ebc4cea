// Which ticks of a schedule are due, and what becomes of each. A tick found in time is started; of those found late, the
// function's policy says which are started, and the others leave a decision that says why not.
import { nextTick, ticksBetween } from "../model/cron.ts";
import type { MissedPolicy } from "../model/function-config.ts";
import { lengthText } from "../model/length-text.ts";

/** A tick found later than this was missed: nobody was there when it came. */
export const lateMs = 60_000;

// A hundred say when it went wrong and how it went on; a year of minutes would say the same half a million times.
const missedListedMax = 100;

export interface DueTick {
  readonly tickAt: number;
  readonly decision: "start" | "missed";
  /** Null for one that is found in time. */
  readonly reason: string | null;
  /** The part of the reason that is about earlier ticks, which have no decision of their own. */
  readonly speaksFor?: string;
}

export interface DueTicks {
  /** In order of time. */
  readonly ticks: readonly DueTick[];
  /** When there is something to do again; null when the schedule is over. */
  readonly nextAt: number | null;
}

/** Throws CRON_INVALID. */
export function dueTicks(schedule: {
  readonly cron: string;
  readonly lastTickAt: number;
  readonly missed: MissedPolicy | undefined;
  readonly now: number;
}): DueTicks {
  const { cron, lastTickAt, now } = schedule;
  const policy = schedule.missed ?? { kind: "last" };
  const startsMax = policy.kind === "skip" ? 0 : policy.kind === "last" ? 1 : policy.max;
  const lateUntil = now - lateMs - 1;
  const late = ticksBetween(cron, lastTickAt, lateUntil, startsMax + missedListedMax);
  const inTime = ticksBetween(cron, Math.max(lastTickAt, lateUntil), now, Number.MAX_SAFE_INTEGER);
  const firstStarted = Math.max(0, late.ticks.length - startsMax);
  const missed = late.ticks.map((tickAt, i): DueTick => {
    if (i >= firstStarted) return { tickAt, decision: "start", reason: startedReason(tickAt, now, policy) };
    const reason = missedReason(tickAt, now, policy);
    const speaksFor = i === 0 ? summary(late.omitted, late.firstOmitted) : null;
    if (speaksFor === null) return { tickAt, decision: "missed", reason };
    return { tickAt, decision: "missed", reason: `${reason}; ${speaksFor}`, speaksFor };
  });
  const started = inTime.ticks.map((tickAt): DueTick => ({ tickAt, decision: "start", reason: null }));
  return { ticks: [...missed, ...started], nextAt: nextTick(cron, Math.max(now, lastTickAt)) };
}

const missedReason = (tickAt: number, now: number, policy: MissedPolicy): string =>
  `tick ${instantText(tickAt)} was missed: found ${lengthText(now - tickAt)} late; policy "${policy.kind}" starts ${
    policy.kind === "skip" ? "none" : `only the ${newest(policy)}`
  }`;

const startedReason = (tickAt: number, now: number, policy: MissedPolicy): string =>
  `started ${lengthText(now - tickAt)} late: tick ${instantText(tickAt)} was missed; policy "${policy.kind}" starts the ${newest(policy)}`;

const newest = (policy: MissedPolicy): string =>
  policy.kind === "all" && policy.max !== 1 ? `newest ${policy.max}` : "newest";

/** Ticks that are not listed stand with the oldest that is. */
const summary = (omitted: number, first: number | null): string | null =>
  first === null
    ? null
    : `so ${omitted === 1 ? "was 1 earlier tick" : `were ${omitted} earlier ticks`} since ${instantText(first)}`;

/** 2026-11-15T09:00:00Z: a tick has no fraction of a second unless it is put off by one. */
export const instantText = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");
