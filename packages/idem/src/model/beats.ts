// When a lease is extended by a thread beside the main one, which a busy loop cannot stop.
//
//   heard ──a quarter of the term──▶ asked again ──heard──▶ …
//     │                                └─ the main thread showed no life for too long: not asked ─▶ lapses by itself
//     └─ not heard for three quarters of the term (frozen, cut off): lapsed, and never extended again: its holder gives it up
import { parseDuration } from "./duration.ts";
import { errors } from "./errors.ts";
import { leaseTimes, sharedLeaseTermMs } from "./lease-times.ts";

export interface BeatFacts {
  /** By one steady clock, as all of these. */
  readonly now: number;
  /** When the last beat that was heard had been asked for. */
  readonly heardAt: number;
  /** When the main thread last showed that it lives. */
  readonly livedAt: number;
  readonly termMs: number;
  /** For so long a main thread may show no life. */
  readonly blockedMaxMs: number;
}

export type BeatStep = "beat" | "silent" | "lapsed";

export function nextBeat({ now, heardAt, livedAt, termMs, blockedMaxMs }: BeatFacts): BeatStep {
  if (now - heardAt >= leaseTimes(termMs).trustMs) return "lapsed";
  return now - livedAt >= blockedMaxMs ? "silent" : "beat";
}

/** Longer than a step holds the loop up by mistake, short enough that a loop that never comes back costs no night. */
export const blockedMaxDefaultMs = 5 * 60 * 1_000;

const blockedMaxMsMax = 24 * 60 * 60 * 1_000;

/** Refuses what would be over before the lease is, or never. */
export function readBlockedMax(value: string | number | undefined): number {
  if (value === undefined) return blockedMaxDefaultMs;
  const ms = parseDuration(value, "blockedMax");
  if (ms >= sharedLeaseTermMs && ms <= blockedMaxMsMax) return ms;
  throw errors.OPTION_INVALID({
    option: "blockedMax",
    why: `it must be from ${sharedLeaseTermMs / 1_000}s, which a lease lasts anyway, to 24h`,
  });
}
