// Passes what is committed on to all current watchers; they come and go while the store stays open.
import type { StoreObserver } from "./observed-store.ts";

/** Pages want some of it, counters the rest. */
export type RelayedObserver = Partial<StoreObserver>;

export function relayObserver(watching: Iterable<RelayedObserver>): Required<StoreObserver> {
  return {
    accepted: (...told) => {
      for (const each of watching) each.accepted?.(...told);
    },
    decided: (...told) => {
      for (const each of watching) each.decided?.(...told);
    },
    suppressed: (...told) => {
      for (const each of watching) each.suppressed?.(...told);
    },
    stepEnded: (...told) => {
      for (const each of watching) each.stepEnded?.(...told);
    },
    attemptFailed: (...told) => {
      for (const each of watching) each.attemptFailed?.(...told);
    },
    runEnded: (...told) => {
      for (const each of watching) each.runEnded?.(...told);
    },
    ticked: (...told) => {
      for (const each of watching) each.ticked?.(...told);
    },
    touched: (...told) => {
      for (const each of watching) each.touched?.(...told);
    },
  };
}
