// The invoker of a run (docs/reference/wire.md#system-events). It is kept beside an event's data and not in it, so that keys, filters and the
// radar never see it; apps are given it as `data._inngest`.
import { type Event, payloadOf } from "../model/event.ts";
import { fromJson } from "../model/json.ts";

/** In the wire's words. Of an invocation from outside only the function is known. */
export interface InvokedBy {
  readonly fn_id: string;
  /** The step's, as its author calls it. */
  readonly name?: string;
  readonly correlation_id?: string;
  readonly source_app_id?: string;
  readonly source_fn_id?: string;
  /** When nobody waits for its end any more, in milliseconds. */
  readonly expire?: number;
}

/** Texts are joined: an event's extra may hold numbers with more digits than a number keeps. */
export function noteInvoked<E extends Pick<Event, "extra">>(event: E, by: InvokedBy): E {
  const note = `"invoked":${JSON.stringify(by)}}`;
  const { extra } = event;
  return { ...event, extra: extra === null || extra === "{}" ? `{${note}` : `${extra.slice(0, -1)},${note}` };
}

/** An event as the app that is called sees it. */
export function calledEvent(event: Event): ReturnType<typeof payloadOf> {
  const payload = payloadOf(event);
  const invoked = event.extra === null ? undefined : (fromJson(event.extra) as Record<string, unknown>).invoked;
  return invoked === undefined ? payload : { ...payload, data: { ...(payload.data as object), _inngest: invoked } };
}
