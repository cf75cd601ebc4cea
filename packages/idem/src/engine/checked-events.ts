// Events on their way in: all of a call are checked, by the sender's middleware and schemas and by the rules for events, before any is
// stored.
import type { Middleware } from "../execute/function-code.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import type { EventIdScope } from "../model/claim.ts";
import { errors } from "../model/errors.ts";
import { placeOf } from "../model/event.ts";
import { noteTrace, type TracePoint, writeTraceparent } from "../protocol/traceparent.ts";
import type { ByHand } from "../store/audit.ts";
import type { NewEvent } from "../store/ingest.ts";
import { limits } from "./limits.ts";
import { type CheckEvents, outgoingEvents } from "./outgoing-events.ts";

export interface KnownOfEvents {
  /** Ids the sender derived. */
  readonly eventIds?: readonly string[];
  readonly sourceRunId?: string | null;
  /** Only for callers that checked whose delivery it is. */
  readonly idScope?: EventIdScope | undefined;
  /** The span of the sender, where the request named one. */
  readonly trace?: TracePoint | null;
  /** Absent for what a program sends. */
  readonly byHand?: ByHand | undefined;
}

interface EventPorts {
  readonly check: CheckEvents;
  readonly now: () => number;
  readonly newId: () => string;
}

/** Each by the rules for events, all before any is sent on: for a sender whose events are stored elsewhere, under ids that are given there. */
export function eventsToSend(given: readonly unknown[], now: number, place = placeOf): readonly NewEvent[] {
  const facts = { eventId: "", now, windowMs: 0, sourceRunId: null, allowReserved: false };
  refuseTooMany(given);
  return given.map((input, i) => acceptEvent(input, place(i, given.length), facts, limits));
}

function refuseTooMany({ length: count }: readonly unknown[]): void {
  if (count > limits.eventsPerCallMax) throw errors.EVENT_BATCH_TOO_LARGE({ count, max: limits.eventsPerCallMax });
}

/** To be awaited where it is a promise. */
export function checkedEvents(
  inputs: readonly unknown[],
  windowMs: number,
  middleware: readonly Middleware[],
  known: KnownOfEvents,
  ports: EventPorts,
): readonly NewEvent[] | Promise<readonly NewEvent[]> {
  const given = outgoingEvents(inputs, middleware, ports.check);
  if (!("then" in given)) return accepted(given, windowMs, known, ports);
  return given.then((events) => accepted(events, windowMs, known, ports));
}

function accepted(
  given: readonly unknown[],
  windowMs: number,
  { eventIds = [], sourceRunId = null, idScope, trace = null }: KnownOfEvents,
  ports: EventPorts,
): readonly NewEvent[] {
  refuseTooMany(given);
  const now = ports.now();
  return given.map((input, i) => {
    const facts = { eventId: eventIds[i] ?? ports.newId(), now, windowMs, sourceRunId, allowReserved: false, idScope };
    const event = acceptEvent(input, placeOf(i, given.length), facts, limits);
    return trace === null ? event : noteTrace(event, writeTraceparent(trace));
  });
}
