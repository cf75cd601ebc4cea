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
  /**
   * JSON text of what else the sender attached (`v`, `user`, `meta`), of who invoked (`invoked`), of the span that sent it (`trace`) and of the
   * source whose delivery it is (`source`), or null.
   */
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

/** As user code and expressions see it: who invoked, in which trace and by which source is no part of an event. */
export function payloadOf(
  event: Pick<Event, "id" | "callerId" | "name" | "data" | "ts" | "extra">,
): Record<string, unknown> & { id: string; ts: number } {
  const {
    invoked: _,
    trace: __,
    source: ___,
    ...extra
  } = event.extra === null ? nothing : (fromJson(event.extra) as Record<string, unknown>);
  return { ...extra, id: publicEventId(event), name: event.name, data: fromJson(event.data), ts: event.ts };
}

/** No colon: an id is `<source>:<id>`, and two of them must not be able to be the same text. */
const sourceName = "[A-Za-z0-9][A-Za-z0-9._/-]{0,99}";
const sourceOfId = new RegExp(`^(${sourceName}):`);
const notedSource = new RegExp(`^\\{"source":"(${sourceName})"[,}]`);

/** The source of a delivery follows from its id, or from its name where it has none. */
export const deliverySource = (callerId: string | null, name: string): string => {
  const [, source] = sourceOfId.exec(callerId ?? `${name.slice(0, name.lastIndexOf("/"))}:`) ?? [];
  return source ?? "webhook";
};

/** Senders write `v`, `user` and `meta` and nothing else, so only a delivery begins like this. */
export const noteSource = (extra: string | null, source: string): string =>
  extra === null || extra === "{}" ? `{"source":"${source}"}` : `{"source":"${source}",${extra.slice(1)}`;

/** The source that delivered the event; null for an event that came another way. */
export const sourceOf = ({ extra }: Pick<Event, "extra">): string | null =>
  extra === null ? null : (notedSource.exec(extra)?.[1] ?? null);
