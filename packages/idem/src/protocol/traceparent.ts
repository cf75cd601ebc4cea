// The W3C trace context (https://www.w3.org/TR/trace-context): as a header, and as events keep it. An event's is the span it was sent by; the runs it starts,
// their calls to apps and the events they send go on with its trace, in whichever process, however much later.
import { createHash } from "node:crypto";
import type { Event } from "../model/event.ts";

/** Which span of which trace. */
export interface TracePoint {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export const traceparentHeader = "traceparent";

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null for what is no trace context. A later version may say more behind the four fields, which stay what they are. */
export function readTraceparent(header: string | null | undefined): TracePoint | null {
  // 55 characters in version 00; nobody's header is read for longer than a later one may be.
  if (header === undefined || header === null || header.length > 256) return null;
  const [, version, traceId, spanId, flags, more] = pattern.exec(header.trim()) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return null;
  return { traceId: traceId!, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16) & 1 };
}

export const writeTraceparent = ({ traceId, spanId, traceFlags }: TracePoint): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`;

const noted = /,?"trace":"([0-9a-f-]{55})"\}$/;

/** Beside an event's data, where keys, filters and user code do not see it. Texts are joined: they may hold numbers of more digits than a number keeps. */
export function noteTrace<E extends Pick<Event, "extra">>(event: E, traceparent: string): E {
  const note = `"trace":"${traceparent}"}`;
  const extra = event.extra?.replace(noted, "}") ?? "{}";
  return { ...event, extra: extra === "{}" ? `{${note}` : `${extra.slice(0, -1)},${note}` };
}

/** Null for an event that nobody traced. */
export const traceOf = ({ extra }: Pick<Event, "extra">): TracePoint | null =>
  extra === null ? null : readTraceparent(noted.exec(extra)?.[1]);

/**
 * Of a call to an app that nobody traces: all calls of a run are one trace and each is a span of it, because without one the SDK collects nothing of what
 * its steps ask of models. Made of ids that are there already; the trace is the event's where it came with one.
 */
export const traceparentOf = (
  { runId, requestId }: { readonly runId: string; readonly requestId: string },
  event: Pick<Event, "extra"> | null = null,
): string => {
  const given = event === null ? null : traceOf(event);
  const { traceId, traceFlags } = given ?? { traceId: traceIdOf(runId), traceFlags: 1 };
  return writeTraceparent({ traceId, spanId: hexOf(requestId).slice(0, 16), traceFlags });
};

/** Of all calls of a run whose event has none. */
export const traceIdOf = (runId: string): string => hexOf(runId).slice(0, 32);

const hexOf = (id: string): string => createHash("sha256").update(id).digest("hex");
