// Classifies an app's answer to a call (docs/reference/wire.md#an-answer). A 2xx that did not come from an SDK is never a success.
import { type ErrorCode, errors } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { SerializedError } from "../model/user-errors.ts";
import { oldestJsSdk, unsupportedSdkVersion } from "./sdk-version.ts";
import { errorOf, readOps, type WireOp } from "./wire-ops.ts";

export type CallReply =
  | { readonly kind: "returned"; readonly json: string; readonly version: number }
  | {
      readonly kind: "ops";
      readonly ops: readonly WireOp[];
      readonly version: number;
      readonly noRetry: boolean;
      readonly retryAfter: string | null;
    }
  | {
      readonly kind: "threw";
      readonly error: SerializedError;
      readonly isFinal: boolean;
      readonly retryAfter: string | null;
    }
  /** The app stopped because its call is out of date. */
  | { readonly kind: "stale" }
  /** Nothing that answers there is the app. */
  | { readonly kind: "not-the-app"; readonly why: string };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function readCallReply(raw: Answer): CallReply {
  const answer = unwrapStreamed(raw);
  const { status, headers } = answer;
  const body = parse(answer.body);
  if (!isSdk(headers) && !isThrownAround(answer)) return { kind: "not-the-app", why: notSdk(answer) };
  const tooOld = unsupportedSdkVersion(headers["x-inngest-sdk"]);
  // An app that changed to an old SDK since it registered: its results are of another shape. The run waits until it is upgraded.
  if (tooOld !== null) {
    return { kind: "not-the-app", why: `it uses inngest ${tooOld}, and Idem supports ${oldestJsSdk} and newer` };
  }
  const version = Number(headers["x-inngest-req-version"] ?? 2) === 1 ? 1 : 2;
  const noRetry = headers["x-inngest-no-retry"] === "true";
  // Idem's own SDK says it to the millisecond; a number with its unit is a duration and no count of seconds.
  const retryMs = headers["x-idem-retry-after-ms"];
  const retryAfter = /^\d{1,9}$/.test(retryMs ?? "") ? `${retryMs}ms` : (headers["retry-after"] ?? null);
  if (status === 206) {
    if (body === undefined) throw errors.REPLY_INVALID({ why: "its body is not JSON" });
    return { kind: "ops", ops: readOps(body), version, noRetry, retryAfter };
  }
  if (status === 200) {
    if (body === undefined) throw errors.REPLY_INVALID({ why: "its body is not JSON" });
    return { kind: "returned", json: JSON.stringify(body), version };
  }
  if (status >= 200 && status < 400) {
    return { kind: "not-the-app", why: `it answered ${status}, which no SDK does` };
  }
  const error = readFailure(body, status);
  if (error.name === "StaleDispatchError" || error.name === ("CALL_STALE" satisfies ErrorCode))
    return { kind: "stale" };
  if (error.name === ("CALL_MISDIRECTED" satisfies ErrorCode)) return { kind: "not-the-app", why: error.message };
  if (status === 401) {
    return {
      kind: "not-the-app",
      why: "it did not accept our signature (401): check that both sides have the same signing key",
    };
  }
  return { kind: "threw", error, isFinal: noRetry, retryAfter };
}

/**
 * A streamed answer is a 201 whose body holds the real one; padding of spaces kept the connection open. The real one's
 * headers come last: its signature is over its own body, and the outer answer has none.
 */
export function unwrapStreamed(answer: Answer): Answer {
  if (answer.status !== 201 || !isSdk(answer.headers)) return answer;
  const { status, headers, body } = (parse(answer.body) ?? {}) as Record<string, unknown>;
  if (typeof status !== "number" || status === 201) {
    throw errors.REPLY_INVALID({ why: "the streamed body holds no answer" });
  }
  const named = Object.entries((headers ?? {}) as Record<string, unknown>).map(
    ([name, value]) => [name.toLowerCase(), String(value)] as const,
  );
  const text = typeof body === "string" ? body : JSON.stringify(body ?? null);
  return { status, headers: { ...answer.headers, ...Object.fromEntries(named) }, body: text };
}

export const isSdk = (headers: Readonly<Record<string, string>>): boolean =>
  headers["x-inngest-sdk"] !== undefined || headers["x-inngest-sdk-handled"] !== undefined;

/**
 * The SDK's answer when an app's own middleware throws around the whole request: none of its headers, and no signature in any mode. It is the
 * app's code that failed, so an attempt is spent. A stranger on the line who says the same can spend one too, and nothing else.
 */
export function isThrownAround({ status, body }: Answer): boolean {
  const thrown = status === 500 ? parse(body) : null;
  if (!isJsonObject(thrown) || thrown.type !== "internal") return false;
  return typeof thrown.name === "string" && typeof thrown.message === "string";
}

function notSdk({ status, headers, body }: Answer): string {
  if (status >= 300 && status < 400) {
    return `it answered ${status} and points to ${headers.location ?? "nowhere"}; give the app's final URL`;
  }
  const start = body.slice(0, 120).replace(/\s+/g, " ").trim();
  return `it answered ${status} and is no app with functions${start === "" ? "" : `: ${start}`}`;
}

function readFailure(body: unknown, status: number): SerializedError {
  if (typeof body === "object" && body !== null && "requestedStep" in body) {
    const { requestedStep } = body as Record<string, unknown>;
    return { name: "StepNotFoundError", message: `The app's code did not come to step ${String(requestedStep)}` };
  }
  const error = errorOf(isJsonObject(body) && body.type === "internal" ? { ...body, type: undefined } : body);
  return error.message === "no reason was given"
    ? { ...error, message: `The app answered ${status} without a reason` }
    : error;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
