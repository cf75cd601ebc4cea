// What becomes of a tick: a run that starts at its time, past buffers and triggers, or a decision that says why none does.

import { openRun } from "../ingest/open-runs.ts";
import { payloadOf } from "../model/event.ts";
import type { Expressions } from "../model/expression.ts";
import type { NewEvent, NewPair } from "../store/ingest.ts";
import type { RegisteredTarget } from "./registry.ts";

export interface TickToDecide {
  readonly tickAt: number;
  readonly decision: "start" | "missed";
  readonly reason: string | null;
  /** When its run begins; null for at once. */
  readonly dueAt: number | null;
}

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
