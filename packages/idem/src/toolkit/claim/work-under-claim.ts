// What every tool does around its work: to wait for whoever has the claim, and to hold it while user code runs.
import type { Platform } from "../../platform/platform.ts";
import { pause } from "../call-within.ts";
import type { Held } from "./answers.ts";
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

/** What a row says about something that was thrown. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
