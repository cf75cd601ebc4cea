// The event of a cron tick. Its id is made of environment, function and instant, so whoever stores it second finds it there, and
// two schedules of one function that meet are one tick.
import { type TickData, tickEventName } from "../model/tick.ts";
import { derivedUlid } from "../model/ulid.ts";
import { instantText } from "../schedule/cron-ticks.ts";
import type { NewEvent } from "../store/ingest.ts";

// What the time part of a ULID holds.
const ulidTimeMax = 2 ** 48 - 1;

/** `fireAt` is later than `tickAt` by its jitter. */
export function tickEvent(env: string, fn: string, cron: string, tickAt: number, fireAt: number): NewEvent {
  const ms = Math.min(Math.max(0, Math.floor(tickAt)), ulidTimeMax);
  return {
    id: derivedUlid(ms, JSON.stringify([env, fn, tickAt])),
    callerId: null,
    windowMs: 0,
    name: tickEventName,
    data: JSON.stringify({ cron, scheduledAt: instantText(tickAt), fireAt: instantText(fireAt) } satisfies TickData),
    ts: fireAt,
    extra: null,
    sourceRunId: null,
  };
}
