// The answer of a durable endpoint's run to its caller: the HTTP response the app's handler made, kept as the run's result
// (docs/reference/wire.md#durable-endpoints), and the same as the last server-sent event of its stream.
import { readError } from "../model/user-errors.ts";

export interface EndpointOutput {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface End {
  readonly state: "completed" | "failed" | "cancelled";
  readonly result: string | null;
}

/** Of this hop or of the app's own origin; everything else is replayed. */
const droppedHeaders = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Sent by this server, in whose name the app must not speak: it could sign everyone out (Clear-Site-Data), forbid plain HTTP for the whole host
 * (Strict-Transport-Security), lead elsewhere (Refresh), ask for a password, or give orders to a proxy in front (X-Accel-Redirect). What describes
 * the body or how to come again is all there is.
 */
const ownHeaders: ReadonlySet<string> = new Set([
  "cache-control",
  "content-disposition",
  "content-language",
  "content-type",
  "etag",
  "expires",
  "last-modified",
  "location",
  "retry-after",
  "vary",
  "x-correlation-id",
  "x-request-id",
]);

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** As an answer of this server. */
export function endpointOutput(end: End): EndpointOutput {
  const { status, headers, body } = keptOutput(end);
  const own = Object.entries(headers).filter(([name]) => ownHeaders.has(name));
  return { status, headers: Object.fromEntries(own), body };
}

/** As data, which a caller's code reads: no browser and no proxy acts by its headers. */
function keptOutput({ state, result }: End): EndpointOutput {
  if (state !== "completed") {
    // Its stack is for the people who run the app, not for the caller.
    const { name, message } = readError(result ?? "{}");
    return jsonOutput(500, { name, message });
  }
  const value: unknown = JSON.parse(result ?? "null");
  if (typeof value !== "object" || value === null) return jsonOutput(200, value);
  const { status, headers, body } = value as Record<string, unknown>;
  if (typeof status !== "number" || typeof body !== "string") return jsonOutput(200, value);
  return {
    status: Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200,
    headers: replayed(headers),
    body,
  };
}

const jsonOutput = (status: number, value: unknown): EndpointOutput => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

function replayed(headers: unknown): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(
        ([name, value]) => !droppedHeaders.has(name) && headerName.test(name) && !/[^\t\x20-\x7e\x80-\xff]/.test(value),
      ),
  );
}

/** The event that ends the stream of a run. */
export function responseEvent(end: End): string {
  const { status, headers, body } = keptOutput(end);
  const data = {
    status: end.state === "completed" ? "succeeded" : "failed",
    response: { body, headers, statusCode: status },
  };
  return `event: ${responseEventName}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const responseEventName = "inngest.response";
