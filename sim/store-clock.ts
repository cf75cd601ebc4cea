// The clock of the store's machine, which chaos may set. The store's own time is followed from the outside: the store
// promises a time that never goes backwards and goes on at half speed while its wall clock is behind, so the oracle knows the same
// time without asking the engine, and knows where it differed from the time that was really lived.

const epochMs = Date.UTC(2026, 0, 1);

/** Between two readings the store's time went on by so much more than was lived: it was set ahead. Less: it was held back. */
export interface Drift {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/** When, in the world's time, the store's clock showed one of its milliseconds. */
export interface Shown {
  readonly from: number;
  to: number;
}

/** A moment of the store. */
interface Reading {
  /** The world's time. */
  readonly at: number;
  /** The store's, counted from the world's beginning, with the fraction that it leaves out. */
  readonly time: number;
  /** The store's, as it says it. */
  readonly now: number;
}

// Sums of fractions differ by less than this.
const noiseMs = 1e-6;

// So far behind a wall clock was set back, and nothing waits for it any more.
const setBackMs = 5_000;

// Not zero, so that nobody mistakes the steady clock for the time since the world began.
const steady = (at: number): number => 5_000 + at;

export class SimStoreClock {
  readonly drifts: Drift[] = [];
  readonly shown = new Map<number, Shown>();
  private offsetMs = 0;
  private latest: Reading | null = null;
  /** The last reading before the store found its wall clock set back; null while it follows it. */
  private heldFrom: Reading | null = null;
  /** Whether it was ever held back. */
  wasHeld = false;
  private isOpen = false;

  constructor(private readonly worldNow: () => number) {}

  /** The store is open. Readings until now only serve to compare later ones with; that time was given to nobody. */
  opened(): void {
    this.isOpen = true;
  }

  wallMs(): number {
    if (this.isOpen) this.follow();
    return this.wall();
  }

  monoMs(): number {
    return steady(this.worldNow());
  }

  /** The store's answer if it were asked now. */
  now(): number {
    return this.read().now;
  }

  /** The store's last answer: nothing it says later is earlier. Times between then and now it may never say. */
  said(): number {
    return (this.latest ?? this.read()).now;
  }

  step(ms: number): void {
    this.offsetMs += ms;
  }

  /** The time the store will lose until its wall clock has caught up. */
  get behindMs(): number {
    return Math.max(0, this.read().now - this.wall());
  }

  private wall(): number {
    return epochMs + this.worldNow() + this.offsetMs;
  }

  private isHeld({ now }: Reading): boolean {
    return this.wall() < now - setBackMs;
  }

  private read(): Reading {
    const { latest } = this;
    const at = this.worldNow();
    const wall = { at, time: at + this.offsetMs, now: Math.floor(this.wall()) };
    if (latest === null) return wall;
    if (wall.now >= latest.now) return { ...wall, time: Math.max(latest.time, wall.time) };
    if (!this.isHeld(latest)) return { ...latest, at };
    const from = this.heldFrom ?? latest;
    const half = (steady(at) - steady(from.at)) / 2;
    return { at, time: from.time + half, now: Math.max(latest.now, from.now + Math.floor(half)) };
  }

  private follow(): void {
    const { latest } = this;
    const reading = this.read();
    if (latest !== null) {
      this.heldFrom = this.isHeld(latest) ? (this.heldFrom ?? latest) : null;
      this.wasHeld ||= this.heldFrom !== null;
      const ms = reading.time - latest.time - (reading.at - latest.at);
      if (Math.abs(ms) > noiseMs) this.drifts.push({ from: latest.at, to: reading.at, ms });
    }
    this.latest = reading;
    const shown = this.shown.get(reading.now);
    if (shown === undefined) this.shown.set(reading.now, { from: reading.at, to: reading.at });
    else shown.to = reading.at;
  }
}

export { epochMs };
