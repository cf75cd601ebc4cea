// After a failed attempt: when to try again, or that it was the last one. Pure; chance is an argument.
import { parseDuration, parseInstant } from "../model/duration.ts";
import { IdemError } from "../model/errors.ts";
import { NonRetriableError, RetryAfterError, StepError } from "../model/user-errors.ts";
import { AppUnreachableError, RemoteError } from "./remote.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

// Delay before retry k, as docs/functions.md#when-something-fails has it (the waits of Inngest); the last holds for all after it.
const backoffTable = [
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  hour,
  2 * hour,
] as const;
const jitterMs = 30 * second;

// An app that cannot be reached is mostly being restarted: soon at first, then seldom, for about half a day in all. None of
// its author's attempts are spent (docs/decisions/0010-unreachable-apps-cost-no-attempt.md).
const unreachedTable = [
  250,
  500,
  second,
  2 * second,
  4 * second,
  8 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  hour,
  hour,
  2 * hour,
  2 * hour,
  2 * hour,
  2 * hour,
] as const;

const retryAfterMin = second;
const retryAfterMax = 24 * hour;

/** `attempt` is the one that failed, counted from 1. Returns milliseconds. */
export type Backoff = (attempt: number) => number;

export type Next = { readonly kind: "retry"; readonly atMs: number } | { readonly kind: "final" };

export function nextAttempt(
  failure: {
    error: unknown;
    attempt: number;
    attemptsMax: number;
    now: number;
    chance: number;
    /** Earlier attempts that did not reach the app. */
    unreached?: number;
  },
  backoff: Backoff | null,
): Next {
  const { error, attempt, attemptsMax, now, unreached = 0 } = failure;
  if (isUnreached(error)) {
    const delayMs = unreachedTable[unreached];
    return delayMs === undefined ? { kind: "final" } : { kind: "retry", atMs: now + delayMs };
  }
  if (isFinal(error) || attempt >= attemptsMax) return { kind: "final" };
  const asked = retryAfterOf(error);
  if (asked !== null) return { kind: "retry", atMs: now + retryAfter(asked, now) };
  return { kind: "retry", atMs: now + delayAfter(attempt, failure.chance, backoff) };
}

/** Trying again cannot help: the author said so, a step's own retries are spent, or the mistake is in the code. */
function isFinal(error: unknown): boolean {
  try {
    if (error instanceof IdemError) return error.retry !== "later";
    if (error instanceof RemoteError) return error.isFinal;
    return error instanceof NonRetriableError || error instanceof StepError;
  } catch {
    // A thrown proxy may refuse to say what it is.
    return false;
  }
}

function isUnreached(error: unknown): boolean {
  try {
    return error instanceof AppUnreachableError;
  } catch {
    return false;
  }
}

/** Whether a failed attempt, as it is stored, never got to its author's code. */
export const wasUnreached = (errorJson: string): boolean => errorJson.startsWith(unreachedStart);
const unreachedStart = '{"name":"AppUnreachableError"';

function retryAfterOf(error: unknown): RetryAfterError["retryAfter"] | null {
  try {
    return error instanceof RetryAfterError || error instanceof RemoteError ? error.retryAfter : null;
  } catch {
    return null;
  }
}

function delayAfter(attempt: number, chance: number, backoff: Backoff | null): number {
  if (backoff === null) {
    return backoffTable[Math.min(attempt, backoffTable.length) - 1]! + Math.floor(chance * jitterMs);
  }
  // An author's function that throws or answers nonsense must not stop the run: fall back to the table's first delay.
  try {
    const ms = backoff(attempt);
    return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.floor(ms), retryAfterMax) : backoffTable[0];
  } catch {
    return backoffTable[0];
  }
}

function retryAfter(value: number | string | Date, now: number): number {
  const ms = retryAfterMs(value, now);
  return Math.min(Math.max(ms, retryAfterMin), retryAfterMax);
}

function retryAfterMs(value: number | string | Date, now: number): number {
  try {
    if (typeof value === "number") return parseDuration(value);
    if (value instanceof Date) return parseInstant(value) - now;
    // A bare number in a string is seconds, as in the HTTP header.
    if (/^\d+$/.test(value)) return Number(value) * second;
    // The header's other form, "Wed, 21 Oct 2026 07:28:00 GMT".
    if (/ GMT$/.test(value)) return parseInstant(Date.parse(value)) - now;
    return /^\d{4}-/.test(value) ? parseInstant(value) - now : parseDuration(value);
  } catch {
    // An unreadable time is not worth losing the retry over.
    return backoffTable[0];
  }
}
