// The wire of durable endpoints (docs/reference/wire.md#durable-endpoints): what an app's HTTP handler reports while it drives its run, and the
// request that enters the handler again.
import { errors, IdemError } from "../model/errors.ts";
import { canonicalJson } from "../model/json.ts";
import { ulidTime } from "../model/ulid.ts";
import { readOps, type WireOp } from "./wire-ops.ts";

/** The event a durable endpoint's run begins with: the HTTP request it answers. */
export const httpRequestEvent = "inngest/http.request";

export interface HttpCall {
  /** Scheme, host and port: the app's name. */
  readonly domain: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly contentType: string;
  readonly body: string;
}

export interface EndpointReport {
  readonly runId: string;
  readonly ops: readonly WireOp[];
  /** The ops as they came, to be read again when the run goes on. */
  readonly json: string;
}

export interface EndpointStart extends EndpointReport {
  /** As user code sees it. */
  readonly eventData: Readonly<Record<string, unknown>>;
  readonly call: HttpCall;
  /** Its author's name for it; null for one known by its method and path. */
  readonly name: string | null;
  readonly retries: number;
}

// Its SDK says 3 unless the author says otherwise.
const retriesDefault = 3;
const runIdPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
// Runs are listed by their ids, so an id from another day would stand in the wrong place for ever.
const clockSkewMsMax = 24 * 60 * 60 * 1_000;
const urlCharsMax = 8 * 1024;

/** `POST /v1/checkpoint` */
export function readEndpointStart(body: unknown, nowMs: number): EndpointStart {
  const { run_id, event, steps, retries } = asObject(body, "the body");
  const runId = readRunId(run_id);
  if (Math.abs(ulidTime(runId) - nowMs) > clockSkewMsMax) {
    throw invalid("the time in run_id is more than a day off; check the app's clock");
  }
  const { name, data } = asObject(event, "event");
  if (name !== httpRequestEvent) throw invalid(`event.name must be "${httpRequestEvent}"`);
  const eventData = asObject(data, "event.data");
  return {
    ...readReport(runId, steps),
    eventData,
    call: readHttpCall(eventData),
    name: typeof eventData.fn === "string" && eventData.fn !== "" ? eventData.fn : null,
    retries: typeof retries === "number" && Number.isInteger(retries) && retries >= 0 ? retries : retriesDefault,
  };
}

/** `POST /v1/checkpoint/:runId/steps` */
export function readEndpointReport(body: unknown, runIdInPath: string): EndpointReport {
  const { run_id, steps } = asObject(body, "the body");
  const runId = readRunId(run_id);
  if (runId !== runIdInPath) throw invalid("run_id is another than the path's");
  return readReport(runId, steps);
}

function readReport(runId: string, steps: unknown): EndpointReport {
  if (!Array.isArray(steps)) throw invalid("steps must be a list");
  try {
    return { runId, ops: readOps(steps), json: JSON.stringify(steps) };
  } catch (error) {
    // Said by the app itself here, not by whatever answers at its address.
    if (error instanceof IdemError && error.code === "REPLY_INVALID") throw invalid(String(error.facts.why));
    throw error;
  }
}

export function readRunId(value: unknown): string {
  if (typeof value !== "string" || !runIdPattern.test(value)) throw invalid("run_id must be a ULID");
  return value;
}

/** The request in the data of an event; throws REQUEST_INVALID for one that cannot be made again. */
export function readHttpCall(data: Readonly<Record<string, unknown>>): HttpCall {
  const text = (field: string): string => {
    const value = data[field] ?? "";
    if (typeof value !== "string") throw invalid(`event.data.${field} must be text`);
    return value;
  };
  const method = text("method").toUpperCase();
  if (!/^[A-Z]{3,10}$/.test(method)) throw invalid("event.data.method is no HTTP method");
  const url = readOrigin(text("domain"));
  const path = text("path");
  if (!path.startsWith("/") || path.length > urlCharsMax) throw invalid("event.data.path is no path");
  const query = text("query_params").replace(/^\?/, "");
  if (query.length > urlCharsMax) throw invalid("event.data.query_params is too long");
  return { domain: url.origin, method, path, query, contentType: text("content_type"), body: text("body") };
}

function readOrigin(domain: string): URL {
  let url: URL;
  try {
    url = new URL(domain);
  } catch {
    throw invalid("event.data.domain is no URL");
  }
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.username !== "" || url.password !== "") {
    throw invalid("event.data.domain must be an http or https origin");
  }
  return url;
}

export interface ReentryRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Covered by its signature. */
  readonly signed: string;
}

interface Reentry {
  readonly runId: string;
  readonly stepId: string;
  readonly planOnly: boolean;
  readonly requestId: string;
  readonly generation: number;
  readonly jobId: string;
  readonly traceparent: string;
  readonly serverKind: string;
}

/** The original request once more, told apart by its headers. */
export function writeReentry(call: HttpCall, reentry: Reentry): ReentryRequest {
  const hasBody = call.method !== "GET" && call.method !== "HEAD" && call.body !== "";
  return {
    url: `${call.domain}${call.path}${call.query === "" ? "" : `?${call.query}`}`,
    method: call.method,
    headers: {
      ...(hasBody && /^[\x20-\x7e]+$/.test(call.contentType) ? { "content-type": call.contentType } : {}),
      "x-run-id": reentry.runId,
      "x-inngest-req-version": "2",
      "x-inngest-server-kind": reentry.serverKind,
      "x-request-id": reentry.requestId,
      "x-inngest-generation-id": String(reentry.generation),
      "x-inngest-job-id": reentry.jobId,
      traceparent: reentry.traceparent,
      ...(reentry.stepId === "step" ? {} : { "x-inngest-step-id": reentry.stepId }),
      ...(reentry.planOnly ? { "x-inngest-force-step-plan": "true" } : {}),
    },
    body: hasBody ? call.body : null,
    signed: hasBody ? signedText(call) : "",
  };
}

/** The SDK reads the bodies of POST and PUT as JSON and signs their canonical form; of other methods it signs nothing. */
function signedText({ method, body }: HttpCall): string {
  if (method !== "POST" && method !== "PUT") return "";
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "string" ? value : canonicalJson(value);
  } catch {
    return "";
  }
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${what} must be an object`);
  return value as Record<string, unknown>;
}

const invalid = (why: string): IdemError => errors.REQUEST_INVALID({ why });
