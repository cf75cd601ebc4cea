// A clock that moves only when told. Wall and monotonic time are two hands: a person can set one of them, nobody the other.

export class ManualClock {
  private mono = 0;

  constructor(private wall = Date.UTC(2026, 0, 1)) {}

  wallMs(): number {
    return this.wall;
  }

  monoMs(): number {
    return this.mono;
  }

  /** Time passes: both hands move. */
  advance(ms: number): void {
    if (ms < 0) throw new RangeError(`Time cannot pass backwards (${ms} ms); stepWall() sets the wall clock back`);
    this.wall += ms;
    this.mono += ms;
  }

  /** Somebody sets the wall clock, forward or back; no time passes. */
  stepWall(ms: number): void {
    this.wall += ms;
  }
}
