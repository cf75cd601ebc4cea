// The pages in their order, with their letters. A page whose file is not there is not in the navigation.

import { hasPage } from "../pages.ts";
import type { IconName } from "../parts/icon.tsx";

export interface Place {
  readonly to: string;
  readonly text: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly letter: string | null;
}

const place = (to: string, text: string, icon: IconName, letter: string | null = null): Place => ({
  to,
  text,
  icon,
  letter,
});

const all = [
  place("/", "Overview", "overview", "o"),
  place("/runs", "Runs", "runs", "r"),
  place("/radar", "Radar", "radar", "a"),
  place("/explain", "Explain", "explain", "x"),
  place("/events", "Events", "events", "e"),
  place("/keys", "Keys", "keys", "k"),
  place("/functions", "Functions", "functions", "f"),
  place("/webhooks", "Webhooks", "webhooks", "w"),
];

const under = [
  place("/workers", "Workers", "workers"),
  place("/apps", "Apps", "apps"),
  place("/audit", "Audit", "audit"),
  place("/settings", "Settings", "settings"),
];

/** Every address begins with that of the overview. */
export const isExact = (to: string): boolean => to === "/";

export const places = all.filter(({ to }) => hasPage(to));
export const placesUnderEnvironment = under.filter(({ to }) => hasPage(to));

// At 390 px there is room for four and "More".
const inBottomBar = ["/", "/runs", "/radar", "/explain"];
export const bottomPlaces = places.filter(({ to }) => inBottomBar.includes(to));
export const morePlaces = [...places.filter(({ to }) => !inBottomBar.includes(to)), ...placesUnderEnvironment];
