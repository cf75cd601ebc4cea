// An answer's advice about asking again with the same key. Pure, but for reading the body's first bytes.

export type Advice =
  | { readonly kind: "stop" }
  | {
      readonly kind: "retry";
      readonly afterMs: number;
      /** When the server forgets the key, as it published. */
      readonly expiresInMs?: number;
    };

// Answered, but not by the work itself: nothing is known of it, or it says to come again.
const worthAsking: ReadonlySet<number> = new Set([408, 425, 429]);
// More of a problem's body is not needed to find two fields in it.
const problemBytesMax = 64 * 1024;

/** `retryable` in the body wins over the status. */
export async function adviceOf(response: Response, nowMs: number): Promise<Advice> {
  const { status, headers } = response;
  if (status < 400) return { kind: "stop" };
  const problem = await problemOf(response);
  const afterMs = retryAfterMs(headers.get("retry-after"), nowMs) ?? numberOr(problem?.retry_after_ms, 0);
  if (!isRetryable(status, problem, headers)) return { kind: "stop" };
  const expiresAt = Date.parse(headers.get("idempotency-expires") ?? "");
  return Number.isNaN(expiresAt)
    ? { kind: "retry", afterMs }
    : { kind: "retry", afterMs, expiresInMs: Math.max(0, expiresAt - nowMs) };
}

function isRetryable(status: number, problem: ProblemFields | null, headers: Headers): boolean {
  if (typeof problem?.retryable === "boolean") return problem.retryable;
  if (status >= 500 || worthAsking.has(status)) return true;
  // A conflict may be the business's own. One of the key says so, or says when to come again.
  return status === 409 && (headers.has("retry-after") || String(problem?.type ?? "").endsWith("in-flight"));
}

interface ProblemFields {
  readonly type?: unknown;
  readonly retryable?: unknown;
  readonly retry_after_ms?: unknown;
}

/** From a copy: the response itself is still to be read by the caller. */
async function problemOf(response: Response): Promise<ProblemFields | null> {
  if (response.body === null || !/[/+]json\b/.test(response.headers.get("content-type") ?? "")) return null;
  try {
    const parsed: unknown = JSON.parse(await firstText(response.clone()));
    return typeof parsed === "object" ? (parsed as ProblemFields) : null;
  } catch {
    // Not JSON after all, cut off or broken off: the status alone has to do.
    return null;
  }
}

async function firstText(copy: Response): Promise<string> {
  const reader = copy.body!.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts).toString("utf8");
    parts.push(value);
    length += value.length;
    if (length > problemBytesMax) {
      // Not awaited: a copy's cancelling ends only when its original has been read.
      reader.cancel().catch(() => {});
      return "";
    }
  }
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

const numberOr = (value: unknown, other: number): number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : other;
