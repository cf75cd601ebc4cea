// Turns what people, steps and ended runs send into what the store ingests. Ids are made once and kept, so that deciding
// again after the registry changed repeats the same operation.

import type { InvokedData, PlannedSends, PlannedWait } from "../execute/ports.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { isFor, openRun } from "../ingest/open-runs.ts";
import { errors } from "../model/errors.ts";
import { deferredEventName, payloadOf } from "../model/event.ts";
import { withValues } from "../model/event-values.ts";
import type { Expressions } from "../model/expression.ts";
import type { EventTrigger } from "../model/function-config.ts";
import { chargeCost, readingCost } from "../model/metered-cost.ts";
import type { Outcome } from "../model/step.ts";
import type { Turns } from "../model/turns.ts";
import { serializeError } from "../model/user-errors.ts";
import type { NewWait } from "../model/wait.ts";
import { mergeSessions } from "../protocol/event-sessions.ts";
import { noteInvoked } from "../protocol/invoked-event.ts";
import type { NestedIngest } from "../store/advance.ts";
import type { NewEvent, NewPair } from "../store/ingest.ts";
import { limits } from "./limits.ts";
import type { RegisteredTarget, Registry } from "./registry.ts";

export interface PrepareOptions {
  readonly env: string;
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

/** One pair for every function whose trigger names the event, decided when it is asked for. */
export function* pairsFor(
  events: readonly NewEvent[],
  options: PrepareOptions,
  runIds: RunIds,
  leaseFor: (target: RegisteredTarget) => string | null,
): Iterable<NewPair> {
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!;
    const matches = options.registry.match(event.name);
    if (matches.length === 0) continue;
    const payload = payloadOf(event);
    chargeCost(readingCost(event.data));
    for (const { target, triggers } of matches) {
      if (isAboutOne(event.name, triggers) && !isFor(target.fn, triggers, payload, options.expressions)) continue;
      yield openRun(
        target,
        triggers,
        {
          event: i,
          payload,
          written: event,
          eventId: event.id,
          invokedBy: null,
          runId: runIds.of(event.id, target.fn),
          env: options.env,
          now: options.now,
          leaseTo: leaseFor(target),
        },
        options.expressions,
      );
    }
  }
}

/**
 * Deferred work is for one function, and the end of a run goes to the companions of its own: the others, whose filters name another, have
 * nothing to decide. A filter about anything else is its author's, and what it refused is kept.
 */
const isAboutOne = (name: string, triggers: readonly EventTrigger[]): boolean =>
  name === deferredEventName ||
  (name.startsWith("inngest/function.") && triggers.every(({ if: filter }) => filter?.includes(ofFunction) === true));

const ofFunction = "event.data.function_id == ";

/**
 * All of them, with the loop given back in between when they cost much: what senders put into events decides how long expressions take.
 * The registration they were decided by is the one before the first of them. To be awaited where it is a promise.
 */
export function inTurns(pairs: Iterable<NewPair>, turns: Turns): NewPair[] | Promise<NewPair[]> {
  const decided: NewPair[] = [];
  const rest = pairs[Symbol.iterator]();
  const first = turns.next();
  if (first !== undefined) return goOn(first);
  for (let pair = rest.next(); pair.done !== true; pair = rest.next()) {
    decided.push(pair.value);
    const turn = turns.next();
    if (turn !== undefined) return goOn(turn);
  }
  return decided;

  async function goOn(waited: Promise<void>): Promise<NewPair[]> {
    let turn: Promise<void> | undefined = waited;
    for (;;) {
      if (turn !== undefined) await turn;
      const pair = rest.next();
      if (pair.done === true) return decided;
      decided.push(pair.value);
      turn = turns.next();
    }
  }
}

/** Events a step sends. Without an id of their own they take one from the step, the same on every retry and rerun. */
export function eventsOfSends(
  { step, events, eventId, fallbackId }: PlannedSends,
  runId: string,
  options: PrepareOptions,
): NewEvent[] {
  if (events.length > limits.eventsPerCallMax) {
    throw errors.EVENT_BATCH_TOO_LARGE({ count: events.length, max: limits.eventsPerCallMax });
  }
  const sent = events.map((event, i) => {
    const accepted = acceptEvent(
      event,
      `Step "${step}": event ${i + 1} of ${events.length}`,
      {
        eventId: eventId(i),
        now: options.now,
        windowMs: options.eventWindowMs,
        sourceRunId: runId,
        allowReserved: false,
      },
      limits,
    );
    return accepted.callerId === null ? { ...accepted, callerId: fallbackId(i) } : accepted;
  });
  return [...withValues(sent, options.registry.fields)];
}

/** The event that starts an invoked function and carries its data. Throws for sessions that cannot be kept. */
export function invokedEvent(
  invoked: InvokedData,
  source: { readonly runId: string; readonly fn: string; readonly app: string },
  options: Pick<PrepareOptions, "newId" | "now">,
): NewEvent {
  const where = `The data for function "${invoked.function}"`;
  const { data, v, meta } = invoked;
  const event = acceptEvent(
    {
      name: "inngest/function.invoked",
      data: data ?? {},
      v,
      ...(meta === undefined || meta === null ? {} : { meta: mergeSessions(meta, where) }),
    },
    where,
    { eventId: options.newId(), now: options.now, windowMs: 0, sourceRunId: source.runId, allowReserved: true },
    limits,
  );
  return noteInvoked(event, {
    fn_id: invoked.function,
    name: invoked.step.name,
    correlation_id: `${source.runId}.${invoked.step.stepId}`,
    source_app_id: source.app,
    source_fn_id: source.fn,
    expire: invoked.timeoutAt,
  });
}

/** Events that a run sends, decided. */
export interface SentEvents {
  readonly events: readonly NewEvent[];
  readonly pairs: readonly NewPair[];
  /** By which they were. */
  readonly registration: number;
}

export async function decideSends(
  events: readonly NewEvent[],
  options: PrepareOptions,
  runIds: RunIds,
  turns: Turns,
): Promise<SentEvents> {
  const { registration } = options.registry;
  const pairs = await inTurns(
    pairsFor(events, options, runIds, () => null),
    turns,
  );
  return { events, pairs, registration };
}

/** For a patch that sends nothing. */
export const noSends = ({ registry }: PrepareOptions): SentEvents => ({
  events: [],
  pairs: [],
  registration: registry.registration,
});

const noWaits: readonly never[] = [];

export interface NestedPlan {
  readonly waits: readonly NewWait[];
  readonly ingest: NestedIngest | null;
}

/** The waits of a patch, with the events and pairs that invoking steps need beside them. */
export function planNested(
  sends: SentEvents,
  waits: readonly PlannedWait[],
  extra: NestedIngest | null,
  options: PrepareOptions,
): NestedPlan {
  // As the end of most runs: nothing was sent and nothing is waited for.
  if (extra !== null && sends.events.length === 0 && waits.length === 0) return { waits: noWaits, ingest: extra };
  const events: NestedIngest["events"][number][] = [...sends.events];
  const pairs: NewPair[] = [...sends.pairs];
  let unknown = false;
  const planned = waits.map((plan): NewWait => {
    if (plan.kind === "ready") return plan.wait;
    const { wait, invoke } = plan;
    const target = options.registry.find(invoke.function);
    if (target === null) {
      unknown = true;
      const refused = failure(errors.FUNCTION_UNKNOWN({ function: invoke.function }));
      return { ...wait, pair: -1, onRefused: refused };
    }
    const { event } = invoke;
    events.push(event);
    const pair = openRun(
      target,
      [],
      {
        event: events.length - 1,
        payload: payloadOf(event),
        written: event,
        eventId: event.id,
        invokedBy: invoke.stepKey,
        runId: invoke.runId,
        env: options.env,
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
  // "Unknown" is only true of the newest registration: the store compares it even when there is nothing else to store.
  if (events.length === 0 && !unknown) return { waits: planned, ingest: null };
  return { waits: planned, ingest: { registration: sends.registration, events, pairs } };
}

const failure = (error: Error): Outcome => ({ kind: "error", json: serializeError(error) });
