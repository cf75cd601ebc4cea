// Timers that the user's code sets in a call: what rings after the call was answered may do something yet, and the world waits for it.
import { placeIn, stackAbove } from "../worker/caller.ts";
import { isOurs } from "../worker/our-folder.ts";

/** A world waits no longer for one of them: what comes later comes to nobody. */
const delayMsMax = 3_000;

export function watchTimers(tell: (count: number) => void, isInCall: () => boolean): void {
  const { setTimeout, clearTimeout } = globalThis;
  const pending = new Set<unknown>();
  const end = (timer: unknown): void => {
    if (pending.delete(timer)) tell(pending.size);
  };
  const watched = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
    // Those of packages (an SDK's limits of time) are their own business: only the line right above counts.
    const isWatched = isInCall() && (ms ?? 0) <= delayMsMax && placeIn(stackAbove(watched, 1), isOurs) !== null;
    if (!isWatched) return setTimeout(run, ms, ...args);
    const timer = setTimeout(() => {
      try {
        run(...args);
      } finally {
        end(timer);
      }
    }, ms);
    pending.add(timer);
    tell(pending.size);
    return timer;
  };
  globalThis.setTimeout = Object.assign(watched, setTimeout) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    clearTimeout(timer);
    end(timer);
  };
}
