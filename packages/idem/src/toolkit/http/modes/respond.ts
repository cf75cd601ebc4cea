// Answers of an author's code in these modes: bytes from the start, so that stored, sent and replayed are one thing.

import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import type { KeyOutcome } from "../../keys/key-store.ts";
import { headersToKeep } from "../replay-headers.ts";

export interface RespondOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Undoes what the body wrote to the database and keeps the answer: a refusal for everybody who asks again, too. */
  readonly rollback?: boolean;
}

/** Made by `respond`. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: readonly (readonly [string, string])[],
    /** Null: no body at all. */
    readonly body: Uint8Array | null,
    readonly isRolledBack: boolean,
  ) {}
}

/** These have no body (RFC 9110, 15.3.5, 15.3.6, 15.4.5), and a Response with one cannot be made. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * The answer to a request: JSON, unless the body is text or bytes; none for null.
 *
 * ```ts
 * return respond(201, { orderId });
 * return respond(402, { error: "card declined" }, { rollback: true });
 * ```
 */
export function respond(status: number, body: unknown = null, options: RespondOptions = {}): Answer {
  refuseUnknown<RespondOptions>("respond", options, { headers: true, rollback: true });
  const refuse = (why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "respond", option: "status", why });
  if (!Number.isInteger(status) || status < 200 || status > 599) throw refuse("it must be between 200 and 599");
  const given = bytesOf(body);
  if (given !== null && bodiless.has(status)) throw refuse(`an answer of ${status} has no body`);
  // By way of Headers, which refuses what could not be sent.
  const headers = new Headers(options.headers);
  if (given !== null && !headers.has("content-type")) headers.set("content-type", given.type);
  return new Answer(status, [...headers], given?.bytes ?? null, options.rollback ?? false);
}

/** Ends the work for good, with this answer: stored, and given to everybody who asks again. Any other error may be tried again. */
export class Final extends Error {
  override readonly name = "Final";
  readonly answer: Answer;
  constructor(status: number, body: unknown = null, options: Omit<RespondOptions, "rollback"> & ErrorOptions = {}) {
    super(`ended with ${status}`, options);
    this.answer = respond(status, body, options);
  }
}

function bytesOf(body: unknown): { readonly bytes: Uint8Array; readonly type: string } | null {
  if (body === null || body === undefined) return null;
  if (body instanceof Uint8Array) return { bytes: body, type: "application/octet-stream" };
  if (typeof body === "string") return { bytes: encoder.encode(body), type: "text/plain;charset=utf-8" };
  const json = JSON.stringify(body);
  if (json === undefined) {
    throw errors.TOOLKIT_OPTION_INVALID({ call: "respond", option: "body", why: `a ${typeof body} is not JSON` });
  }
  return { bytes: encoder.encode(json), type: "application/json" };
}

const encoder = new TextEncoder();

export interface Kept {
  /** More than this has happened all the same: it is kept as a tombstone, and never done again. */
  readonly bytesMax: number;
  /** The route's own, beside those that are always kept. */
  readonly replayHeaders: readonly string[];
}

export const outcomeOf = ({ status, headers, body }: Answer, { bytesMax, replayHeaders }: Kept): KeyOutcome =>
  body !== null && body.length > bytesMax
    ? { kind: "gone", status, reason: `its response has ${body.length} bytes, more than the ${bytesMax} that are kept` }
    : { kind: "response", status, headers: headersToKeep(headers, replayHeaders), body };

/** To the caller whose request was executed. */
export function firstResponse({ status, headers, body }: Answer, endsAt: number): Response {
  // Copied into a buffer of its own: the type of a Response's body leaves shared memory out.
  const response = new Response(body === null ? null : new Uint8Array(body), { status });
  // A Response gives some bodies a type by itself.
  response.headers.delete("content-type");
  for (const [name, value] of headers) response.headers.append(name, value);
  response.headers.set("idempotency-status", "executed");
  response.headers.set("idempotency-expires", new Date(endsAt).toUTCString());
  return response;
}
