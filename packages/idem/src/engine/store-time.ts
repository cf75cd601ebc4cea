// What time it is for the store, as far as this process knows. Node clocks may differ by an hour; only the store's decides,
// and an answer takes its time, so there are two bounds: one that is never behind the store's clock, to plan from (a sleep
// asked for now is never over early), and one that is never ahead of it, to judge by (a retry planned elsewhere is never early).
import type { Platform } from "../platform/platform.ts";

// A difference this large is a stepped clock, not a slow answer.
const steppedMs = 1_000;
// A commit takes milliseconds; one that takes this long makes everybody wait.
const slowMs = 2_000;

export class StoreTime {
  private offset: number | null = null;
  /** The latest time the store said, and when it was heard. */
  private said: { readonly now: number; readonly heardMono: number } | null = null;

  constructor(
    private readonly platform: Pick<Platform, "monoMs" | "wallMs">,
    private readonly onSlow: (tookMs: number) => void = () => {},
  ) {}

  /** Takes in an answer: the store said `now` after we asked at `askedMono`. The smallest bound is the best one. */
  note(askedMono: number, now: number): void {
    const heardMono = this.platform.monoMs();
    if (heardMono - askedMono >= slowMs) this.onSlow(heardMono - askedMono);
    const offset = now - askedMono;
    if (this.offset === null || offset < this.offset || offset > this.offset + steppedMs) this.offset = offset;
    // Said again later, the same time counts from then: the store's clock may be standing still.
    if (this.said === null || now >= this.said.now) this.said = { now, heardMono };
  }

  /** Not behind the store's clock. */
  now(): number {
    return this.offset === null ? this.platform.wallMs() : Math.ceil(this.platform.monoMs() + this.offset);
  }

  /** Not ahead of the store's clock: every time up to this one has come. */
  reached(): number {
    if (this.said === null) return Math.floor(this.platform.wallMs());
    return this.said.now + Math.floor(this.platform.monoMs() - this.said.heardMono);
  }
}
