// The store's time against the time that was lived, and what follows for promises about time. Everything is measured
// in the world's own time, which nobody sets; a stepped clock excuses exactly as much as it was stepped by, and only where it
// may matter.
import type { Drift } from "../store-clock.ts";

// A step ahead this small is taken for ordinary slewing and believed at once; a window may be that much shorter.
const believedMs = 5_000;

// A node hears of a step with its next answer; a frozen one when it wakes up.
const unheardMs = 60_000;

// The store counts whole milliseconds, and whole ones of the halves while it is held back; the world does not.
const roundingMs = 2;

export class StoreHours {
  constructor(private readonly drifts: readonly Drift[]) {}

  /** Whether a timer of `ms` from `from` may be over at `over`: it runs by the store's clock, so a step ahead shortens it. */
  isTimerEarly(from: number, over: number, ms: number): boolean {
    return over - from < ms - roundingMs - this.aheadMs(from, over);
  }

  /** By how much a timer asked for at `from` may be short, by the world's clock, if it is over at `over`. */
  aheadMs(from: number, over: number): number {
    return this.sum(from - unheardMs, over, (ms) => Math.max(0, ms));
  }

  /** Whether a window opened at `from` must still be open at `to`: a sudden step ahead closes none. */
  isSurelyOpen(from: number, to: number, windowMs: number): boolean {
    return to - from < windowMs - roundingMs - this.sum(from, to, (ms) => (ms > 0 && ms <= believedMs ? ms : 0));
  }

  /** Whether it must be over: only a clock that is held back, having been set back, makes it last longer. */
  isSurelyOver(from: number, to: number, windowMs: number): boolean {
    return to - from >= windowMs + roundingMs + this.sum(from, to, (ms) => Math.max(0, -ms));
  }

  private sum(from: number, to: number, counted: (ms: number) => number): number {
    const between = this.drifts.filter((drift) => drift.to > from && drift.from < to);
    return between.reduce((total, { ms }) => total + counted(ms), 0);
  }
}
