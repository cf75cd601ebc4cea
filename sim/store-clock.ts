// The clock of the store's machine, which chaos may set. What the store makes of it is followed from the outside: the store
// promises a time that never goes backwards, so the oracle knows the same time without asking the engine, and knows where it
// differed from the time that was really lived.

const epochMs = Date.UTC(2026, 0, 1);

/** Between two readings the store's time went on by so much more than was lived: it was set ahead. Less: it stood still. */
export interface Drift {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

// Sums of fractions differ by less than this.
const noiseMs = 1e-6;

export class SimStoreClock {
  readonly drifts: Drift[] = [];
  private offsetMs = 0;
  /** What the store last made of it, both counted from the world's beginning. */
  private latest: { readonly at: number; readonly time: number } | null = null;
  private isOpen = false;

  constructor(private readonly worldNow: () => number) {}

  /** The store is open. What it read until now it only compares later readings with; that time was given to nobody. */
  opened(): void {
    this.isOpen = true;
  }

  wallMs(): number {
    if (this.isOpen) this.follow();
    return epochMs + this.worldNow() + this.offsetMs;
  }

  monoMs(): number {
    return 5_000 + this.worldNow();
  }

  /** What the store would answer if it were asked now. */
  now(): number {
    return Math.floor(epochMs + this.time());
  }

  step(ms: number): void {
    this.offsetMs += ms;
  }

  /** How long the store's time will stand still until its wall clock has caught up. */
  get behindMs(): number {
    return this.time() - (this.worldNow() + this.offsetMs);
  }

  private time(): number {
    return Math.max(this.latest?.time ?? Number.NEGATIVE_INFINITY, this.worldNow() + this.offsetMs);
  }

  private follow(): void {
    const at = this.worldNow();
    const time = this.time();
    if (this.latest !== null) {
      const ms = time - this.latest.time - (at - this.latest.at);
      if (Math.abs(ms) > noiseMs) this.drifts.push({ from: this.latest.at, to: at, ms });
    }
    this.latest = { at, time };
  }
}

export { epochMs };
