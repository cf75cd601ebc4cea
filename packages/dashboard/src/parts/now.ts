// One timer moves everything on the page that counts down: each second while something is about to end, else each minute.
import { useEffect, useSyncExternalStore } from "react";

const minuteMs = 60_000;
const secondMs = 1_000;

let now = Date.now();
/** The server's clock minus this browser's, once an answer told; windows end by the server's. */
let aheadMs = 0;
let urgent = 0;
let timer: ReturnType<typeof setTimeout> | null = null;
const watchers = new Set<() => void>();

function schedule(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  if (watchers.size === 0) return;
  const everyMs = urgent > 0 ? secondMs : minuteMs;
  timer = setTimeout(
    () => {
      now = Date.now() + aheadMs;
      for (const each of watchers) each();
      schedule();
    },
    everyMs - (Date.now() % everyMs),
  );
}

export function setServerNow(serverNow: number): void {
  aheadMs = serverNow - Date.now();
}

const subscribe = (watcher: () => void): (() => void) => {
  if (watchers.size === 0) now = Date.now() + aheadMs;
  watchers.add(watcher);
  if (timer === null) schedule();
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) schedule();
  };
};

/** The instant the page shows. Give the instants that matter: within a minute of one the page moves each second. */
export function useNow(...ends: readonly (number | null)[]): number {
  const at = useSyncExternalStore(subscribe, () => now);
  const isUrgent = ends.some((end) => end !== null && Math.abs(end - at) < minuteMs + secondMs);
  useEffect(() => {
    if (!isUrgent) return;
    urgent++;
    schedule();
    return () => {
      urgent--;
      schedule();
    };
  }, [isUrgent]);
  return at;
}
