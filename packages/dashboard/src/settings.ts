// A person's preferences. Kept in the browser, for they are about the screen and not about the store.
import { useSyncExternalStore } from "react";

export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  readonly zone: "local" | "utc";
  readonly letterKeys: boolean;
}

const defaults: Settings = { theme: "system", density: "comfortable", zone: "local", letterKeys: true };
const place = "idem-settings";

function read(): Settings {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(place) ?? "{}") as Partial<Settings>) };
  } catch {
    // A browser that keeps nothing, or foreign text in our place: the defaults serve.
    return defaults;
  }
}

let current = read();
const watchers = new Set<() => void>();

function show({ theme, density }: Settings): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  dataset.density = density;
}

export const settingsNow = (): Settings => current;

export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  show(current);
  try {
    localStorage.setItem(place, JSON.stringify(current));
  } catch {
    // They hold until the page is closed.
  }
  for (const each of watchers) each();
}

export function startSettings(): void {
  show(current);
  // The same person in another tab.
  window.addEventListener("storage", ({ key }) => {
    if (key !== place) return;
    current = read();
    show(current);
    for (const each of watchers) each();
  });
}

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const useSettings = (): Settings => useSyncExternalStore(subscribe, settingsNow);
