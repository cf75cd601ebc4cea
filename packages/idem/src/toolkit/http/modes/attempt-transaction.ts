// One request as one transaction: opened in time, closed in time, done again when the database undid it in favour of somebody else.
import { errors, IdemError } from "../../../model/errors.ts";
import type { Platform } from "../../../platform/platform.ts";
import { callWithin, pause } from "../../call-within.ts";
import type { Adapter } from "../../sql/adapter.ts";
import { sqlFaultOf } from "../../sql/faults.ts";
import { problemResponse } from "../problems.ts";

// Deadlocks and serialisation failures are over after one more try, nearly always; five mean a row that everybody wants.
const attemptsMax = 5;
const againMsMax = 50;
// A pool that has no session for this long is as good as a database that is down.
const openMsMax = 2_000;

/** An error of the author's body, kept apart from the database's errors about our own statements. */
export class BodyFailed extends Error {
  constructor(override readonly cause: unknown) {
    super("the body failed");
  }
}

export async function asBody<T>(body: () => T | Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw new BodyFailed(error);
  }
}

export function asBodySync<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw new BodyFailed(error);
  }
}

/** The author's own error. */
export const ownError = (error: unknown): unknown => (error instanceof BodyFailed ? error.cause : error);

/** Done again, whole, when the server undid it in favour of another transaction. */
export async function untilKept<T>(work: (attempt: number) => Promise<T>, platform: Platform): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (sqlFaultOf(error) !== "again" || attempt >= attemptsMax) throw error;
      await pause(platform, (platform.randomBytes(1)[0]! / 256) * againMsMax);
    }
  }
}

/** A failed attempt as an answer to the client; null when it is the author's own error. Nothing was committed, or a retry will find it. */
export function problemOf(error: unknown): Response | null {
  const fault = sqlFaultOf(error);
  if (fault === "lock-timeout") return problemResponse("in-flight");
  if (fault === "again") return problemResponse("store-unavailable");
  if (error instanceof BodyFailed) return null;
  const isAway = fault === "unknown" || error instanceof NotOpened || isAwayByCode(error);
  return isAway ? problemResponse("store-unavailable", { detail: "Ask again with the same key." }) : null;
}

const isAwayByCode = (error: unknown): boolean =>
  error instanceof IdemError && (error.code === "COMMIT_UNKNOWN" || error.code === "KEY_STORE_UNAVAILABLE");

class NotOpened extends Error {}

/** A look of its own, before any transaction. */
export async function answerInTime<T>(platform: Platform, call: () => Promise<T>): Promise<T> {
  const called = await callWithin(platform, openMsMax, call);
  if (called.kind === "answer") return called.value;
  if (called.kind === "failed") throw called.error;
  called.pending.catch(() => {});
  throw new NotOpened();
}

/** A transaction that is refused when the database does not give one in time; one that is given too late is undone before its first statement. */
export function openInTime<Tx, T>(
  adapter: Adapter<Tx>,
  platform: Platform,
  lockTimeoutMs: number,
  body: (tx: Tx) => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = platform.timer(openMsMax, () => {
      isLate = true;
      reject(new NotOpened());
    });
    const entered = (tx: Tx): T | Promise<T> => {
      timer.cancel();
      if (isLate) throw new NotOpened();
      return body(tx);
    };
    adapter
      .transaction(entered, { lockTimeoutMs })
      .then(resolve, reject)
      .finally(() => timer.cancel());
  });
}

/** Also for a body that never looks at its signal: the transaction is undone under it, and its client takes nothing more. */
export async function closeInTime<T>(
  maxMs: number,
  platform: Platform,
  body: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const startedAt = platform.monoMs();
  const tooLong = () => errors.TRANSACTION_TOO_LONG({ ms: Math.round(platform.monoMs() - startedAt), max: maxMs });
  let timer = { cancel: () => {} };
  const passed = new Promise<never>((_, reject) => {
    timer = platform.timer(maxMs, () => {
      const error = tooLong();
      late.abort(error);
      reject(error);
    });
  });
  try {
    return await Promise.race([body(late.signal), passed]);
  } finally {
    timer.cancel();
  }
}

/** For a body that cannot be interrupted: looked at when it is done, and undone then. */
export function closedInTime<T>(maxMs: number, platform: Platform, body: (signal: AbortSignal) => T): T {
  const startedAt = platform.monoMs();
  const value = body(new AbortController().signal);
  const ms = Math.round(platform.monoMs() - startedAt);
  if (ms > maxMs) throw errors.TRANSACTION_TOO_LONG({ ms, max: maxMs });
  return value;
}
