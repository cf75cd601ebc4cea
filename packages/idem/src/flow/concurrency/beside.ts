// The slots a run holds beside its own, for steps that run side by side in limits that count steps (docs/decisions/0053). These rules
// are the same in every store; stores differ in how they count.
import type { ConcurrencyLimit } from "./config.ts";

/** By position in the lane's slots; a function has at most two limits. */
export type Beside = readonly [number, number];

export const nothingBeside: Beside = [0, 0];

export interface BesideAsked {
  /** Grows with every commit of a lease: one that comes late, behind a later one, changes nothing. */
  readonly turn: number;
  /** For steps at work: what it holds of these it keeps, whatever the limit says now. */
  readonly keep: number;
  /** With those that wait to begin; not less than `keep`. */
  readonly want: number;
  /** Limits that count steps, by position in the lane's slots; null for one that counts runs. */
  readonly caps: readonly (number | null)[];
}

const isOfSteps = ({ parallelSteps }: ConcurrencyLimit): boolean => parallelSteps === true;

/** Whether steps of its runs may run side by side. */
export const countsSteps = (limits: readonly ConcurrencyLimit[] | undefined): boolean =>
  limits?.some(isOfSteps) === true;

export const besideCaps = (limits: readonly ConcurrencyLimit[] = []): BesideAsked["caps"] =>
  limits.map((each) => (isOfSteps(each) ? each.limit : null));

interface CountedSlot {
  readonly slot: string;
  readonly cap: number;
  readonly position: 0 | 1;
}

/** Those of the lane's slots that count steps. */
export const countedSlots = (slots: readonly string[], { caps }: BesideAsked): CountedSlot[] =>
  slots.flatMap((slot, position) => {
    const cap = caps[position] ?? null;
    return cap === null ? [] : [{ slot, cap, position: position as 0 | 1 }];
  });

export interface SlotsNow {
  readonly held: Beside;
  /** Each slot's use, with all that this run holds. */
  readonly used: (slot: string) => number;
  /** Whether a run stands in line for one of them. */
  readonly isInLine: () => boolean;
}

/** Kept for sure. */
export const keptBeside = ({ keep }: BesideAsked, held: Beside): number => Math.min(keep, Math.max(...held));

/** The number it holds from now on. Slots it gives back it does not get again at once while a run stands in line for them. */
export function grantBeside(asked: BesideAsked, counted: readonly CountedSlot[], now: SlotsNow): number {
  if (counted.length === 0) return 0;
  const { held, used, isInLine } = now;
  const kept = keptBeside(asked, held);
  if (asked.want <= kept || (counted.some(({ position }) => held[position] > kept) && isInLine())) return kept;
  const free = counted.map(({ slot, cap, position }) => cap - used(slot) + held[position] - kept);
  return kept + Math.max(0, Math.min(asked.want - kept, ...free));
}

/** Held of each of them. */
export const besideNow = ([first]: readonly CountedSlot[], held: Beside): number =>
  first === undefined ? 0 : held[first.position];

export function besideOf(counted: readonly CountedSlot[], granted: number): Beside {
  const of = (place: number) => (counted.some(({ position }) => position === place) ? granted : 0);
  return [of(0), of(1)];
}
