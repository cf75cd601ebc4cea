// The toolkit's own answers, as problem JSON (RFC 9457). None of these is ever stored, and none says of the first request more
// than its age. `retryable` is for clients: the same key again can help, or it cannot.
import { problemType } from "../../protocol/problem.ts";

export type ProblemKind =
  | "key-missing"
  | "key-invalid"
  | "key-reused"
  | "in-flight"
  | "outcome-unknown"
  | "response-gone"
  | "store-unavailable"
  | "draining"
  | "body-too-large"
  /** The body broke off before it was read. */
  | "body-unreadable"
  /** The author's `principal` or `tenant` did not say who asks: without that nothing is looked up and nothing executes. */
  | "principal-unknown";

export interface ProblemFacts {
  readonly retryAfterMs?: number;
  readonly detail?: string;
  readonly extra?: Record<string, unknown>;
  /** The first digits of the record's id, which logs carry, too: what a client quotes and an operator finds. */
  readonly hint?: string;
  /** The API's own page about its keys; the kind is its fragment. */
  readonly docs?: string;
}

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly isRetryable: boolean;
}

const problems: Record<ProblemKind, Problem> = {
  "key-missing": {
    status: 400,
    title: "Idempotency-Key is missing",
    detail: "This operation needs an Idempotency-Key: make one before the first attempt, and send it with every retry.",
    isRetryable: false,
  },
  "key-invalid": {
    status: 400,
    title: "Idempotency-Key is invalid",
    detail: "Send one key of 1 to 255 printable ASCII characters, in quotes or without.",
    isRetryable: false,
  },
  "key-reused": {
    status: 422,
    title: "Idempotency-Key was used for another request",
    detail:
      "This key belongs to a request with other content. Send that one again, or use a new key for a new request.",
    isRetryable: false,
  },
  "in-flight": {
    status: 409,
    title: "A request with this Idempotency-Key is in flight",
    detail: "The first request with this key has not ended. Ask again with the same key to get its answer.",
    isRetryable: true,
  },
  "outcome-unknown": {
    status: 409,
    title: "The outcome of this request is not known",
    detail: "The first request with this key broke off, and a person decides what became of it. Do not send it again.",
    isRetryable: false,
  },
  "response-gone": {
    status: 410,
    title: "The response is gone",
    detail: "The request was executed, and its response was not kept. Read the resource instead.",
    isRetryable: false,
  },
  "store-unavailable": {
    status: 503,
    title: "Idempotency keys cannot be checked now",
    detail: "Nothing was executed. Ask again with the same key.",
    isRetryable: true,
  },
  draining: {
    status: 503,
    title: "The server is stopping",
    detail: "Ask again with the same key: another server takes it up.",
    isRetryable: true,
  },
  "body-too-large": {
    status: 413,
    title: "The body is too large",
    detail: "Requests with an Idempotency-Key are read whole, and this one is larger than that.",
    isRetryable: false,
  },
  "body-unreadable": {
    status: 400,
    title: "The body could not be read",
    detail: "The request broke off before its end. Nothing was executed.",
    isRetryable: true,
  },
  "principal-unknown": {
    status: 403,
    title: "The caller is not known",
    detail: "Idempotency keys belong to a caller, and this request does not say whose it is. Nothing was executed.",
    isRetryable: false,
  },
};

/** Retried sooner, a request that waits for another one is only more load. */
const retryAfterMsDefault = 1_000;

export function problemResponse(kind: ProblemKind, facts: ProblemFacts = {}): Response {
  const { status, title, detail, isRetryable } = problems[kind];
  const type = facts.docs === undefined ? `urn:idem:problem:${kind}` : `${facts.docs}#${kind}`;
  const headers = new Headers({ "content-type": problemType, "cache-control": "no-store" });
  if (status === 400 || status === 422) headers.set("link", `<${type}>; rel="describedby"`);
  const retryAfterMs = isRetryable ? Math.max(1_000, Math.ceil(facts.retryAfterMs ?? retryAfterMsDefault)) : null;
  if (retryAfterMs !== null) headers.set("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  const body = {
    type,
    title,
    status,
    detail: facts.detail ?? detail,
    ...(facts.hint === undefined ? {} : { instance: `urn:idem:key:${facts.hint}` }),
    ...facts.extra,
    retryable: isRetryable,
    ...(retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs }),
  };
  return new Response(JSON.stringify(body), { status, headers });
}
