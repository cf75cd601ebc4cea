// Tells what is committed to everybody who watches now; they come and go while the store stays open.
import type { StoreObserver } from "./observed-store.ts";

/** News for pages; the rest is for counters. */
export type RelayedObserver = Required<Pick<StoreObserver, "accepted" | "decided" | "runEnded" | "touched">>;

const ignore = (): void => {};

export function relayObserver(watching: Iterable<RelayedObserver>): StoreObserver {
  return {
    accepted: (env, count) => {
      for (const each of watching) each.accepted(env, count);
    },
    decided: (env, kind, count) => {
      for (const each of watching) each.decided(env, kind, count);
    },
    runEnded: (env, runId, state, result) => {
      for (const each of watching) each.runEnded(env, runId, state, result);
    },
    touched: (env, runId) => {
      for (const each of watching) each.touched(env, runId);
    },
    suppressed: ignore,
    stepEnded: ignore,
    attemptFailed: ignore,
    ticked: ignore,
  };
}
