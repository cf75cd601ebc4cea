// The store's clock. It follows the wall clock but never goes backwards, and windows and leases do not believe a sudden step
// forward: a wall clock set 25 hours ahead would otherwise close every 24-hour window and let yesterday's keys run again.
// Windows and leases that were open when the clock was stepped last as long as they would have lasted without the step; those that
// began after it never noticed. A wall clock that was set back does not stop this one, or every sleep and schedule would stand still
// for as long: it goes on at half speed until the wall has caught up.
import type { Instant } from "../model/claim.ts";

// Above scheduling noise and ordinary clock slewing, far below any window.
const believedStepMs = 5_000;

// Fast enough that nothing stands still, slow enough that the wall catches up.
const crawlSpeed = 0.5;

// After such a step every living worker beats well within this; until then nobody is declared lost by a time that was not lived.
const leaseGraceMs = 30_000;

// A bound for a machine whose clock is stepped all day long.
const stepsMax = 100;

// Room for a thousand recordings per millisecond in one stamp; 2^53 is reached in the year 2255.
const stampsPerMs = 1_000;

/** No stamp of this instant or later is smaller. */
export const firstStampAt = (ms: number): number => Math.max(0, Math.floor(ms)) * stampsPerMs;

/** The clock went on by `ms` that were not lived, and was at `at` then. */
export interface ClockStep {
  readonly at: number;
  readonly ms: number;
}

export class StoreClock {
  private lastMono: number | null = null;
  private lastNow: number;
  private lastStamp = 0;
  /** Since when the wall is behind. */
  private crawledFrom: { readonly now: number; readonly mono: number } | null = null;
  /** The part of the time that leases do not believe, and until when. */
  private graceMs = 0;
  private graceUntilMono = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly source: { wallMs(): number; monoMs(): number },
    /** No instant at or before this one is given out again; what an earlier process may have used. */
    floor = 0,
    /** Every step known, those of earlier processes included; a new list when there is one more. */
    public steps: readonly ClockStep[] = [],
  ) {
    this.lastNow = floor;
  }

  /** `askedMono`: the wall is not read now but was, elsewhere, at some time since then. */
  read(askedMono: number | null = null): Instant {
    const mono = this.source.monoMs();
    const before = this.lastNow;
    const wall = this.source.wallMs();
    const now = Math.max(before, Math.floor(wall), this.crawl(mono, wall));
    const stepMs = this.lastMono === null ? 0 : now - before - (mono - this.lastMono);
    // The time lived between two readings may be as much as from the asking of one to the hearing of the other: an answer that was
    // long on its way is no step.
    if (askedMono === null || this.lastMono === null || now > before) this.lastMono = askedMono ?? mono;
    this.lastNow = now;
    if (stepMs > believedStepMs) this.disbelieve(Math.round(stepMs), mono);
    const { steps } = this;
    const windowNow = (takenAt: number) => steps.reduce((time, { at, ms }) => (takenAt < at ? time - ms : time), now);
    return { now, windowNow, leaseNow: mono < this.graceUntilMono ? now - this.graceMs : now };
  }

  /** No instant before this one is given out: somebody else has read it from the same wall. */
  raise(floor: number): void {
    this.lastNow = Math.max(this.lastNow, floor);
  }

  /** Steps that others saw first. What they saw is not seen again here. */
  adopt(steps: readonly ClockStep[]): void {
    const known = new Set(this.steps.map(({ at, ms }) => `${at} ${ms}`));
    const mono = this.source.monoMs();
    for (const { at, ms } of steps) {
      if (known.has(`${at} ${ms}`)) continue;
      if (this.lastMono === null) continue;
      this.lastMono -= ms;
      this.grace(ms, mono);
    }
    this.steps = steps;
  }

  /** The time the clock has reached by itself while the wall is behind it; 0 where the wall is not. */
  private crawl(mono: number, wall: number): number {
    if (this.lastMono === null || wall >= this.lastNow - believedStepMs) {
      this.crawledFrom = null;
      return 0;
    }
    this.crawledFrom ??= { now: this.lastNow, mono: this.lastMono };
    return this.crawledFrom.now + Math.floor((mono - this.crawledFrom.mono) * crawlSpeed);
  }

  /** A number greater than every one before: the order in which outcomes, waits and events were recorded. */
  stamp(): number {
    this.lastStamp = Math.max(this.lastStamp + 1, this.lastNow * stampsPerMs);
    return this.lastStamp;
  }

  /** Somebody else has given out this one. */
  sawStamp(stamp: number): void {
    this.lastStamp = Math.max(this.lastStamp, stamp);
  }

  private disbelieve(ms: number, mono: number): void {
    const steps = [...this.steps, { at: this.lastNow, ms }];
    const [oldest, second, ...rest] = steps;
    // Two become the later one: what was opened between them lasts longer, never shorter.
    const fewer = () => [{ at: second!.at, ms: oldest!.ms + second!.ms }, ...rest];
    this.steps = steps.length > stepsMax ? fewer() : steps;
    this.grace(ms, mono);
  }

  private grace(ms: number, mono: number): void {
    this.graceMs = ms + (mono < this.graceUntilMono ? this.graceMs : 0);
    this.graceUntilMono = mono + leaseGraceMs;
  }
}
