// An event is a fact someone sent. `data` stays the JSON text it arrived as, so nothing rewrites a payload on its way.
import { fromJson } from "./json.ts";

/** ULID given at acceptance; unique for ever, unlike the caller's own id. */
export type EventId = string;

export interface Event {
  readonly id: EventId;
  /** The id the sender gave; the same one twice inside the window is a duplicate. */
  readonly callerId: string | null;
  readonly name: string;
  readonly data: string;
  /** When it happened, by the sender's word. Never decides a window. */
  readonly ts: number;
  /** JSON text of what else the sender attached (`v`, `user`, `meta`), of who invoked (`invoked`) and of the span that sent it (`trace`), or null. */
  readonly extra: string | null;
  readonly receivedAt: number;
  /** Set on a duplicate: the event that was first. */
  readonly firstEventId: EventId | null;
  /** The run whose step sent it, if one did. */
  readonly sourceRunId: string | null;
}

/** Starts one function that a run put off until its end, and names it. */
export const deferredEventName = "inngest/deferred.schedule";

/** The name of one event of a call, in errors. */
export const placeOf = (index: number, count: number): string =>
  count === 1 ? "The event" : `Event ${index + 1} of ${count}`;

/** `event.id` in user code: the sender's id where there is one. */
export const publicEventId = (event: Pick<Event, "id" | "callerId">): string => event.callerId ?? event.id;

const nothing: Readonly<Record<string, unknown>> = {};

/** As user code and expressions see it: who invoked, and in which trace, is nobody's key. */
export function payloadOf(
  event: Pick<Event, "id" | "callerId" | "name" | "data" | "ts" | "extra">,
): Record<string, unknown> & { id: string; ts: number } {
  const {
    invoked: _,
    trace: __,
    ...extra
  } = event.extra === null ? nothing : (fromJson(event.extra) as Record<string, unknown>);
  return { ...extra, id: publicEventId(event), name: event.name, data: fromJson(event.data), ts: event.ts };
}
