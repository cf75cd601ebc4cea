// Turns what people, steps and ended runs send into what the store ingests. Ids are made once and kept, so that deciding
// again after the registry changed repeats the same operation.

import { payloadOf } from "../execute/execute-run.ts";
import type { PlannedInvoke, PlannedSend, PlannedWait } from "../execute/ports.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { openRun } from "../ingest/open-runs.ts";
import { errors } from "../model/errors.ts";
import type { Expressions } from "../model/expression.ts";
import type { Outcome } from "../model/outcome.ts";
import { serializeError } from "../model/user-errors.ts";
import type { NewWait } from "../model/wait.ts";
import type { NestedIngest, NewEvent, NewPair } from "../store/store.ts";
import { limits } from "./limits.ts";
import type { RegisteredTarget, Registry } from "./registry.ts";

export interface PrepareOptions {
  readonly registry: Registry;
  readonly expressions: Expressions;
  readonly now: number;
  readonly newId: () => string;
  readonly eventWindowMs: number;
}

/** Run ids by event and function, made on first use. */
export class RunIds {
  private readonly ids = new Map<string, string>();
  constructor(private readonly newId: () => string) {}
  of(eventId: string, fn: string): string {
    const name = `${eventId} ${fn}`;
    const known = this.ids.get(name);
    if (known !== undefined) return known;
    const id = this.newId();
    this.ids.set(name, id);
    return id;
  }
}

/** One pair for every function whose trigger names the event. */
export function pairsFor(
  events: readonly NewEvent[],
  options: PrepareOptions,
  runIds: RunIds,
  leaseFor: (target: RegisteredTarget) => string | null,
): NewPair[] {
  return events.flatMap((event, i) => {
    const matches = options.registry.match(event.name);
    if (matches.length === 0) return [];
    const payload = payloadOf({ event: { ...event, receivedAt: options.now, firstEventId: null } });
    return matches.map(({ target, triggers }) =>
      openRun(
        target,
        triggers,
        {
          event: i,
          payload,
          eventId: event.id,
          invokedBy: null,
          runId: runIds.of(event.id, target.fn),
          now: options.now,
          leaseTo: leaseFor(target),
        },
        options.expressions,
      ),
    );
  });
}

/** Events a step sends. Without an id of their own they take one from the step, the same on every retry and rerun. */
export function eventsOfSends(sends: readonly PlannedSend[], runId: string, options: PrepareOptions): NewEvent[] {
  return sends.map(({ event, where, eventId, fallbackId }) => {
    const accepted = acceptEvent(
      event,
      where,
      { eventId, now: options.now, windowMs: options.eventWindowMs, sourceRunId: runId, allowReserved: false },
      limits,
    );
    return accepted.callerId === null ? { ...accepted, callerId: fallbackId } : accepted;
  });
}

export interface NestedPlan {
  readonly waits: NewWait[];
  readonly ingest: NestedIngest | null;
}

/** The waits of a patch, with the events and pairs that invoking steps need beside them. */
export function planNested(
  sends: readonly PlannedSend[],
  waits: readonly PlannedWait[],
  extra: NestedIngest | null,
  runId: string,
  options: PrepareOptions,
  runIds: RunIds,
): NestedPlan {
  const events: NestedIngest["events"][number][] = eventsOfSends(sends, runId, options);
  const pairs: NewPair[] = pairsFor(events, options, runIds, () => null);
  const planned = waits.map((plan): NewWait => {
    if (plan.kind === "ready") return plan.wait;
    const { wait, invoke } = plan;
    const target = options.registry.find(invoke.function);
    if (target === null) {
      const refused = failure(errors.FUNCTION_UNKNOWN({ function: invoke.function }));
      return { ...wait, pair: -1, onRefused: refused };
    }
    events.push(invokedEvent(invoke, runId, target, options));
    const event = events.at(-1)!;
    const pair = openRun(
      target,
      [],
      {
        event: events.length - 1,
        payload: payloadOf({ event: { ...event, receivedAt: options.now, firstEventId: null } }),
        eventId: event.id,
        invokedBy: invoke.stepKey,
        runId: invoke.runId,
        now: options.now,
        leaseTo: null,
      },
      options.expressions,
    );
    pairs.push(pair);
    const why = pair.kind === "start" ? "no run answers for it" : pair.reason;
    const refused = failure(new Error(`Function "${invoke.function}" was not started: ${why}`));
    return { ...wait, pair: pairs.length - 1, onRefused: refused };
  });
  if (extra !== null) {
    const offset = events.length;
    events.push(...extra.events);
    pairs.push(...extra.pairs.map((pair) => ({ ...pair, event: pair.event + offset })));
  }
  if (events.length === 0) return { waits: planned, ingest: null };
  return { waits: planned, ingest: { registration: options.registry.registration, events, pairs } };
}

function invokedEvent(
  invoke: PlannedInvoke,
  runId: string,
  target: RegisteredTarget,
  options: PrepareOptions,
): NewEvent {
  const accepted = acceptEvent(
    { name: "inngest/function.invoked", data: invoke.data ?? {}, v: invoke.v },
    `The data for function "${target.config.id}"`,
    { eventId: invoke.eventId, now: options.now, windowMs: 0, sourceRunId: runId, allowReserved: true },
    limits,
  );
  return accepted;
}

const failure = (error: Error): Outcome => ({ kind: "error", json: serializeError(error) });
