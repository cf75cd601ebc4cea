// The store's clock. It follows the wall clock but never goes backwards, and it does not believe a sudden forward step
// at once: a wall clock set 25 hours ahead would otherwise close every 24-hour window and let yesterday's keys run again.
import type { Instant } from "../model/claim.ts";

// Above scheduling noise and ordinary clock slewing, far below any window.
const believedStepMs = 5_000;

// After such a step every living worker beats well within this; until then nobody is declared lost by a time that was not lived.
const leaseGraceMs = 30_000;

// Room for a thousand recordings per millisecond in one stamp; 2^53 is reached in the year 2255.
const stampsPerMs = 1_000;

export class StoreClock {
  private lastWall: number;
  private lastMono: number;
  private lastNow: number;
  private lastStamp = 0;
  private frozenAt = 0;
  private frozenUntilMono = Number.NEGATIVE_INFINITY;
  private steppedAtMono = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly source: { wallMs(): number; monoMs(): number },
    /** No instant at or before this one is given out again; what an earlier process may have used. */
    floor = 0,
  ) {
    this.lastWall = source.wallMs();
    this.lastMono = source.monoMs();
    this.lastNow = floor;
  }

  read(): Instant {
    const wall = this.source.wallMs();
    const mono = this.source.monoMs();
    const step = wall - this.lastWall - (mono - this.lastMono);
    this.lastWall = wall;
    this.lastMono = mono;
    const before = this.lastNow;
    this.lastNow = Math.max(this.lastNow, Math.floor(wall));
    if (step > believedStepMs && before > 0) {
      if (mono >= this.frozenUntilMono) this.frozenAt = before;
      this.frozenUntilMono = Math.max(mono, this.frozenUntilMono) + step;
      this.steppedAtMono = mono;
    }
    const windowNow = mono < this.frozenUntilMono ? this.frozenAt : this.lastNow;
    const leaseNow = mono < this.steppedAtMono + leaseGraceMs ? windowNow : this.lastNow;
    return { now: this.lastNow, windowNow, leaseNow };
  }

  /** A number greater than every one before: the order in which outcomes, waits and events were recorded. */
  stamp(): number {
    this.lastStamp = Math.max(this.lastStamp + 1, this.lastNow * stampsPerMs);
    return this.lastStamp;
  }
}
