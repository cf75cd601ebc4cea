// Around the work of every tool: waiting while another has the claim, and holding it while user code runs.
import { NonRetriableError } from "../../model/user-errors.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import { pause } from "../call-within.ts";
import type { Held } from "./decide-claim.ts";
import { keepLease } from "./keep-lease.ts";

// Soon enough for work of milliseconds, seldom enough for many who wait.
const lookFirstMs = 20;
const lookMaxMs = 500;

/** Asks until nobody else has it, or `waitMs` are over. In no order of arrival. */
export async function claimWithin<A extends { readonly kind: string }>(
  platform: Platform,
  waitMs: number,
  ask: () => Promise<A>,
): Promise<A> {
  const until = platform.monoMs() + waitMs;
  for (let pauseMs = lookFirstMs; ; pauseMs = Math.min(pauseMs * 2, lookMaxMs)) {
    const answer = await ask();
    const leftMs = until - platform.monoMs();
    if (answer.kind !== "in-flight" || leftMs <= 0) return answer;
    await pause(platform, Math.min(pauseMs, leftMs));
  }
}

/** The signal aborts with reason "lease-lost" once somebody else may have taken over. */
export async function underLease<T>(
  platform: Platform,
  leaseMs: number,
  extend: () => Promise<Held>,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const lease = keepLease(platform, leaseMs, extend);
  try {
    return await work(lease.signal);
  } finally {
    lease.end();
  }
}

/** Looks every so often, or as soon as the last look said, one look at a time. */
export function repeating(
  platform: Platform,
  everyMs: number,
  /** Until the next one; null: `everyMs`. */
  look: () => Promise<number | null>,
  onError: (error: unknown) => void,
): { start(firstMs: number): void; stop(): Promise<void> } {
  let timer: Timer | null = null;
  let isStarted = false;
  let looking: Promise<void> = Promise.resolve();
  const arm = (ms: number): void => {
    timer = platform.timer(ms, () => {
      looking = lookOnce();
    });
  };
  const lookOnce = async (): Promise<void> => {
    // A look that failed leaves everything in place for the next one.
    const nextMs = await look().catch(onError);
    if (isStarted) arm(nextMs ?? everyMs);
  };
  return {
    start(firstMs) {
      if (isStarted) return;
      isStarted = true;
      arm(firstMs);
    },
    async stop() {
      isStarted = false;
      timer?.cancel();
      await looking;
    },
  };
}

/** The reason a row gives for something that was thrown. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** The end of one try of work that is taken by time: done, again later, or dead until a person decides. */
export type WorkEnd =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly afterMs: number; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string };

/** Of one that threw: later each time, up to five minutes. */
export function endOf(error: unknown, attempt: number, attemptsMax: number, triedCount: number): WorkEnd {
  const reason = reasonOf(error);
  const isHopeless = error instanceof NonRetriableError || attempt >= attemptsMax;
  if (isHopeless) return { kind: "dead", reason };
  return { kind: "again", afterMs: Math.min(1_000 * 2 ** triedCount, 300_000), reason };
}

export const reasonText = (end: WorkEnd): string | null => (end.kind === "done" ? null : cutReason(end.reason));

// For people who look at the row.
const reasonLengthMax = 1_000;

export const cutReason = (reason: string | null): string | null => reason?.slice(0, reasonLengthMax) ?? null;
