// For clients: one intent, one key, one frozen request, asked until there is an answer (the client's side of the draft -07 profile).
//
// The key is made before the first attempt, never inside the loop: a key born in a retry protects nothing. It belongs to this call and
// to no client's default headers, where it would leak into the next request.
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { type Advice, adviceOf } from "./retry-advice.ts";

export interface IdempotentInit extends Omit<RequestInit, "window"> {
  /**
   * Makes this request the same one the next time it is asked. Store it with the intent (the order, the job's input) before you ask;
   * without one, a random key protects this call's own retries and nothing beyond it.
   */
  readonly key?: string;
  /** Attempts at most. Default 6. */
  readonly attempts?: number;
  /** Bound of one attempt. Default "30s". */
  readonly timeout?: string | number;
  /** Bound of the whole call, whatever `Retry-After` says. Default "5m". */
  readonly deadline?: string | number;
  /** The server's memory of keys: no attempt begins near its end. Default "24h"; `Idempotency-Expires` of an answer wins. */
  readonly window?: string | number;
  /** The header's name. Default Idempotency-Key. */
  readonly header?: string;
  readonly fetch?: (request: Request) => Promise<Response>;
  readonly platform?: Platform;
}

/** Added to fetch by frameworks. */
interface OfPlatforms {
  readonly cache?: unknown;
  readonly priority?: unknown;
  readonly next?: unknown;
  readonly cf?: unknown;
}

const knownOptions = {
  key: true,
  attempts: true,
  timeout: true,
  deadline: true,
  window: true,
  header: true,
  fetch: true,
  platform: true,
  cache: true,
  priority: true,
  next: true,
  cf: true,
  body: true,
  credentials: true,
  dispatcher: true,
  duplex: true,
  headers: true,
  integrity: true,
  keepalive: true,
  method: true,
  mode: true,
  redirect: true,
  referrer: true,
  referrerPolicy: true,
  signal: true,
} as const;

// Full jitter: a random time up to a bound that doubles. 6 attempts are over after half a minute at most, unless the server says later.
const backoffFirstMs = 500;
const backoffMaxMs = 10_000;
// The tenth of the window that is left for clocks that differ and for the answer's way.
const windowShare = 0.9;

/**
 * ```ts
 * const response = await idempotentFetch("https://api.example.com/orders", {
 *   method: "POST", key: order.idempotencyKey, body: JSON.stringify(order),
 * });
 * ```
 *
 * Answers with the last response; throws REQUEST_UNANSWERED when there was none.
 */
export async function idempotentFetch(input: string | URL | Request, init: IdempotentInit = {}): Promise<Response> {
  refuseUnknown<IdempotentInit & OfPlatforms>("idempotentFetch", init, knownOptions);
  const { key: given, attempts = 6, timeout, window, deadline, header = "idempotency-key", ...rest } = init;
  const { fetch: ask = (request: Request) => globalThis.fetch(request), platform = nodePlatform, ...plain } = rest;
  if (!Number.isInteger(attempts) || attempts < 1) throw refuse("attempts", "it must be a whole number above 0");
  const timeoutMs = parseDuration(timeout ?? "30s", "timeout");
  const key = given ?? createKey(platform);
  if (!/^[\x21-\x7e]{1,255}$/.test(key) || /[",\\]/.test(key)) {
    throw refuse("key", "it must be 1 to 255 visible ASCII characters without comma, quote or backslash");
  }
  const first = new Request(input, plain);
  if (first.headers.has(header)) throw refuse("headers", `the key is given as \`key\`, not as the header ${header}`);
  const frozen = await freeze(first, plain, header, key);
  const startedAt = platform.monoMs();
  const deadlineMs = parseDuration(deadline ?? "5m", "deadline");
  let endsAt = startedAt + Math.min(deadlineMs, parseDuration(window ?? "24h", "window") * windowShare);

  for (let attempt = 1; ; attempt++) {
    const asked = await askOnce(frozen, ask, timeoutMs, first.signal, platform);
    first.signal.throwIfAborted();
    const advice: Advice =
      asked.kind === "answered" ? await adviceOf(asked.response, platform.wallMs()) : { kind: "retry", afterMs: 0 };
    if (advice.kind === "stop" && asked.kind === "answered") return asked.response;
    const { afterMs, expiresInMs } = advice as Extract<Advice, { kind: "retry" }>;
    if (expiresInMs !== undefined) endsAt = Math.min(endsAt, platform.monoMs() + expiresInMs * windowShare);
    const delayMs = Math.max(afterMs, jitterMs(attempt, platform));
    const isOver = attempt >= attempts || platform.monoMs() + delayMs >= endsAt;
    if (isOver) {
      if (asked.kind === "answered") return asked.response;
      throw errors.REQUEST_UNANSWERED({ url: placeOf(frozen.url), attempts: attempt }, { cause: asked.error });
    }
    // Its socket is free for the next attempt.
    if (asked.kind === "answered") await asked.response.body?.cancel();
    await pause(delayMs, first.signal, platform);
  }
}

/** A random key (UUID version 4), to be stored with the intent before anything is asked. */
export function createKey(platform: Platform = nodePlatform): string {
  const bytes = platform.randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "idempotentFetch", option, why });

interface Frozen {
  readonly url: string;
  readonly init: RequestInit;
}

/** The same key promises the same bytes: a form's boundary and a stream's content are settled here, once. */
async function freeze(request: Request, given: RequestInit, header: string, key: string): Promise<Frozen> {
  const headers = new Headers(request.headers);
  // The draft's grammar: a quoted string.
  headers.set(header, `"${key}"`);
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  const { method, redirect, credentials, mode, referrerPolicy } = request;
  // With what was given, for what a runtime knows beyond the standard, such as a dispatcher.
  const init = { ...given, method, headers, body, redirect, credentials, mode, referrerPolicy };
  return { url: request.url, init };
}

type Asked =
  | { readonly kind: "answered"; readonly response: Response }
  | { readonly kind: "failed"; readonly error: unknown };

async function askOnce(
  { url, init }: Frozen,
  ask: (request: Request) => Promise<Response>,
  timeoutMs: number,
  signal: AbortSignal,
  platform: Platform,
): Promise<Asked> {
  const late = new AbortController();
  const timer = platform.timer(timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    const either = AbortSignal.any([late.signal, signal]);
    const asking = ask(new Request(url, { ...init, signal: either }));
    return { kind: "answered", response: await orAborted(asking, either) };
  } catch (error) {
    return { kind: "failed", error };
  } finally {
    timer.cancel();
  }
}

/** Also for a fetch that does not look at its signal. */
function orAborted<T>(asking: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // A signal that has aborted already fires no event.
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    asking.then(resolve, reject);
  });
}

function jitterMs(attempt: number, platform: Platform): number {
  const boundMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** (attempt - 1));
  return (Buffer.from(platform.randomBytes(4)).readUInt32LE() / 2 ** 32) * boundMs;
}

function pause(ms: number, signal: AbortSignal, platform: Platform): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = platform.timer(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Without what may be secret in it. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
