// The W3C trace context of a call. All calls of a run are one trace and each call is a span of it; without it the SDK collects nothing
// of what its steps ask of models. Made of ids that are there already, so nothing is kept for it.
import { createHash } from "node:crypto";

/** `traceparent` of https://www.w3.org/TR/trace-context: version, trace, span, and that it is recorded. */
export const traceparentOf = ({ runId, requestId }: { readonly runId: string; readonly requestId: string }): string =>
  `00-${traceIdOf(runId)}-${hexOf(requestId).slice(0, 16)}-01`;

/** Of all calls of a run, by which a tracing system knows them. */
export const traceIdOf = (runId: string): string => hexOf(runId).slice(0, 32);

const hexOf = (id: string): string => createHash("sha256").update(id).digest("hex");
