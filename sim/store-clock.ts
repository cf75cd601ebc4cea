// The clock of the store's machine, which chaos may set. What the store made of it is followed from the outside: the store
// promises a time that never goes backwards, so the oracle knows the same time without asking the engine.

const epochMs = Date.UTC(2026, 0, 1);

export class SimStoreClock {
  private offsetMs = 0;
  private latest = 0;

  constructor(private readonly worldNow: () => number) {}

  wallMs(): number {
    const wall = epochMs + this.worldNow() + this.offsetMs;
    this.latest = Math.max(this.latest, Math.floor(wall));
    return wall;
  }

  monoMs(): number {
    return 5_000 + this.worldNow();
  }

  /** What the store would answer if it were asked now. */
  now(): number {
    return Math.max(this.latest, Math.floor(epochMs + this.worldNow() + this.offsetMs));
  }

  step(ms: number): void {
    this.offsetMs += ms;
  }

  /** How long the store's time will stand still until its wall clock has caught up. */
  get behindMs(): number {
    return Math.max(0, this.latest - (epochMs + this.worldNow() + this.offsetMs));
  }
}

export { epochMs };
