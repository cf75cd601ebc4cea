// The number of open alerts: the badge beside Radar and in the tab's title. Every part that learns it sets it here.
import { useSyncExternalStore } from "react";

let count = 0;
const watchers = new Set<() => void>();

export function setOpenAlerts(open: number): void {
  if (open === count) return;
  count = open;
  for (const each of watchers) each();
}

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const useOpenAlerts = (): number => useSyncExternalStore(subscribe, () => count);
