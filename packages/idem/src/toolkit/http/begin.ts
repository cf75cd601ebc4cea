// Between a door (Fetch, Node, Express, Fastify, Hono) and the key: a door reads the request, begins, lets the handler run
// under a ticket, captures its response as bytes, and finishes. Every decision is made behind this.
//
//   read ─▶ plain: no key applies ─▶ the handler, unprotected by choice
//     │  └▶ answer: 400, 413, … ─▶ sent as it is
//     └▶ keyed ─▶ begin ─▶ answer: a replay, 409, 410, 422, 503 ─▶ sent as it is
//                   └▶ execute(ticket) ─▶ handler ─▶ finish(captured) or fail(error) ─▶ send, with headers added; or send that instead
import type { Fingerprint, KeyAbout, OnCrash } from "../keys/key-store.ts";

/** A request with a well-formed key, and everything that identifies it. */
export interface KeyedRequest {
  /** The record's id. */
  readonly id: string;
  readonly fingerprints: readonly [Fingerprint, ...Fingerprint[]];
  readonly about: KeyAbout;
  /**
   * The body, as it came; the request's own is still to be read. Empty where the body is not read before the handler does: the route leaves
   * it out of the fingerprint, or it is larger than the route reads and came with a Content-Digest.
   */
  readonly bytes: Uint8Array;
  readonly request: Request;
}

export type ReadRequest =
  | { readonly kind: "keyed"; readonly keyed: KeyedRequest }
  | { readonly kind: "plain"; readonly request: Request }
  | { readonly kind: "answer"; readonly response: Response };

/** Given to a handler beside its request. */
export interface KeyContext {
  /** From 1; more than one when an earlier attempt died or was left for later. */
  readonly attempt: number;
  /** Grows with every attempt: hand it to whatever takes a version or a fencing token. */
  readonly fence: number;
  /** Aborts with reason "lease-lost" when somebody else has the key now, and with "draining" when the process stops and another may resume. */
  readonly signal: AbortSignal;
  /** A key for the system this handler writes to: the same on every attempt of this request, another for every name. */
  destinationKey(name: string): string;
  /** Runs the part that changes nothing outside: if it throws, the key is released and a retry executes again. */
  beforeEffects<T>(part: () => Promise<T> | T): Promise<T>;
}

/** A handler's answer, as bytes. `body` null is no body at all. */
export interface Captured {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body:
    | { readonly kind: "whole"; readonly bytes: Uint8Array | null }
    /** More than the route keeps; it has been sent on already, but for its end. */
    | { readonly kind: "overflow" }
    /** The handler's stream broke off. */
    | { readonly kind: "aborted"; readonly error: unknown };
}

export type Finished =
  /** Send what was captured, with these headers added. */
  | { readonly kind: "send"; readonly headers: readonly (readonly [string, string])[] }
  /** Somebody else has the key: what they recorded, or a conflict. Where the head is sent already, the connection is cut. */
  | { readonly kind: "instead"; readonly response: Response };

export interface Ticket {
  readonly context: KeyContext;
  /** Up to this many bytes of the response are captured. */
  readonly bytesMax: number;
  /** Saves, then lets the door send. Never throws: what could not be saved is sent with `Idempotency-Status: unstored`. */
  finish(captured: Captured): Promise<Finished>;
  /**
   * The handler threw, and this is the answer that was made of it: judged by its status as if it was returned, but released where the error
   * came from `beforeEffects`.
   */
  fail(error: unknown, answer: Captured): Promise<Finished>;
}

export type Begun =
  | { readonly kind: "execute"; readonly ticket: Ticket }
  | { readonly kind: "answer"; readonly response: Response };

export type Verdict = "store" | "release" | "resume" | "park";

/** Options of a route. Durations as "30s" or milliseconds. */
export interface RouteOptions {
  /** Required: what becomes of a key whose process died in the middle. */
  readonly onCrash: OnCrash;
  /** 400 without a key; else such requests run unprotected. Default true. */
  readonly required?: boolean;
  /** Default POST and PATCH; others ignore the header. */
  readonly methods?: readonly string[];
  /** `principal` leaves method and path out of the record's id: the same key on another route is 422 instead of another operation. */
  readonly scope?: "route" | "principal";
  /** Default "60s"; a heartbeat goes out every third of it. */
  readonly lease?: string | number;
  /** The outcome is remembered for this long after completion. Default "24h", at most 90 days. */
  readonly window?: string | number;
  /** Duplicates of a request in flight: 409 at once (default), or wait up to `maxWait` for its answer. */
  readonly onDuplicate?: "conflict" | "wait";
  /** Default "10s", at most 30. `Prefer: wait=n` of the client is honoured up to it. */
  readonly maxWait?: string | number;
  /** Decides about an outcome, where the table in docs/idempotency-key.md is not wanted. */
  readonly store?: (response: { readonly status: number; readonly attempt: number }) => Verdict | undefined;
  /**
   * Adds headers to every answer that is not the handler's own: a replay, a 409, a 400. For CORS, where no middleware around the route does it.
   */
  readonly onAnswer?: (headers: Headers, request: Request) => void;
  /** Headers to replay beside those of the table. */
  readonly replayHeaders?: readonly string[];
  /** Bytes of a response that are kept. Default 1 MiB. */
  readonly responseBytesMax?: number;
  /** Bytes of a request that are read. Default 1 MiB. */
  readonly requestBytesMax?: number;
  readonly key?: { readonly minLength?: number; readonly pattern?: RegExp; readonly header?: string };
  readonly fingerprint?: FingerprintOptions;
  /** A response larger than `responseBytesMax`: kept as a tombstone (default), or put elsewhere. */
  readonly overflow?: "tombstone" | ExternalBodies;
  /** For answers that must not be kept, such as a token shown once: a reference is, and the body is made again from it. */
  readonly rebuild?: RebuildOptions;
}

export interface FingerprintOptions {
  /** `bytes` compares the body as it came, `headers` leaves it out. */
  readonly body?: "canonical" | "bytes" | "headers";
  /** Request headers that make it another request, such as the API's version. */
  readonly headers?: readonly string[];
  /** Fields of a JSON body that may differ between retries; logged once at start. Paths such as "sentAt" or "meta.attempt". */
  readonly omit?: readonly string[];
  readonly pick?: readonly string[];
}

export interface ExternalBodies {
  put(id: string, bytes: Uint8Array): Promise<string>;
  get(reference: string): Promise<Uint8Array | null>;
}

export interface RebuildOptions {
  /** From the response to what is kept of it. */
  reference(response: { readonly status: number; readonly bytes: Uint8Array | null }): string;
  rebuild(reference: string): Promise<Uint8Array | string | null>;
}

/** To log and to count, once each; never with the key itself. */
export interface KeyEvent {
  readonly kind:
    | "executed"
    | "replayed"
    | "conflict"
    | "mismatch"
    | "takeover"
    | "lease-lost"
    | "released"
    | "parked"
    | "unstored"
    | "store-unavailable"
    | "reaped";
  readonly route: string;
  /** The first 8 hex digits of the record's id. */
  readonly hint: string;
  readonly attempt: number;
  readonly ageMs: number;
  readonly durationMs: number;
}
