// A run whose workers were lost in the middle of it. Each time its code was entered, and nothing came of it: a step that ends
// its process does so every time, and takes with it all that runs beside. So it is entered again later and later, each run at a time of its
// own, which gives those beside it their turn; and after a few times it is left to a person.

export const entriesMaxMost = 1_000;
export const entriesDelayMsMax = 60 * 60 * 1_000;

/** As a function's author has it. */
export interface EntriesConfig {
  /** Entries of its code in a row without an outcome. */
  readonly max: number;
  readonly onMax: "park" | "fail";
  /** Puts off the third entry; the next one is put off by three times as much, and all after it by nine times. */
  readonly delayMs: number;
}

export const entriesDefault: EntriesConfig = { max: 5, onMax: "park", delayMs: 5_000 };

/** Of code in another process: the one that is lost is the server, and no step of an app ended it. */
export const entriesElsewhere: EntriesConfig = { max: 50, onMax: "park", delayMs: 0 };

// Before the second entry nothing: a process that was lost once is nobody's fault.
const growth = [0, 1, 3, 9] as const;
// Up to three times as long, so that runs lost together come back one by one.
const spread = 2;

export type Entry =
  | { readonly kind: "enter" }
  /** Not before then. */
  | { readonly kind: "put-off"; readonly enterAt: number }
  | { readonly kind: "enough" };

export interface EntryFacts {
  readonly lostWorkers: number;
  /** Put off to this instant since the last of them was lost; null when it was not. */
  readonly enterAt: number | null;
  readonly entries: EntriesConfig;
  /** It is surely this late. */
  readonly reached: number;
  /** From 0 to 1. */
  readonly chance: number;
}

export function nextEntry({ lostWorkers, enterAt, entries, reached, chance }: EntryFacts): Entry {
  if (lostWorkers === 0) return { kind: "enter" };
  if (lostWorkers >= entries.max) return { kind: "enough" };
  const leastMs = entries.delayMs * growth[Math.min(lostWorkers, growth.length) - 1]!;
  const at = enterAt ?? reached + Math.round(leastMs * (1 + spread * chance));
  return at <= reached ? { kind: "enter" } : { kind: "put-off", enterAt: at };
}

/** From the third entry on it is no accident. */
export const isLoud = (lostWorkers: number): boolean => lostWorkers >= 2;
