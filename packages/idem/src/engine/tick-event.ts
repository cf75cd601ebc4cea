// The event of a cron tick. Its id is made of environment, function and instant, so a second process that stores it finds it there, and
// two schedules of one function that meet are one tick.
import { openRun } from "../ingest/open-runs.ts";
import { payloadOf } from "../model/event.ts";
import type { Expressions } from "../model/expression.ts";
import { type TickData, tickEventName } from "../model/tick.ts";
import { derivedUlid } from "../model/ulid.ts";
import { instantText } from "../schedule/cron-ticks.ts";
import type { NewEvent, NewPair } from "../store/ingest.ts";
import type { RegisteredTarget } from "./registry.ts";

// The largest time a ULID holds.
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

export interface TickToDecide {
  readonly tickAt: number;
  readonly decision: "start" | "missed";
  readonly reason: string | null;
  /** When its run begins; null for at once. */
  readonly dueAt: number | null;
}

/** Its decision: a run that starts at its time, past buffers and triggers, or a decision that says why none does. */
export function tickPair(
  target: RegisteredTarget,
  event: NewEvent,
  tick: TickToDecide,
  facts: { readonly env: string; readonly runId: string; readonly now: number; readonly leaseTo: string | null },
  expressions: Expressions,
): NewPair {
  const { fn } = target;
  if (tick.decision === "missed") return { kind: "missed", event: 0, fn, reason: tick.reason ?? "the tick was missed" };
  // The tick is what its run is about: a rerun and a duplicate have the same destination keys.
  const instant = new Date(tick.tickAt).toISOString();
  const occasion = {
    ...facts,
    event: 0,
    payload: payloadOf(event),
    written: event,
    eventId: event.id,
    invokedBy: `tick ${instant}`,
  };
  const pair = openRun(target, [], occasion, expressions, { unbuffered: true, dueAt: tick.dueAt });
  if (pair.kind !== "start" || tick.reason === null) return pair;
  return { ...pair, reason: pair.reason === null ? tick.reason : `${tick.reason}; ${pair.reason}` };
}
