// What time it is for the store, as far as this process knows: a bound that is never behind the store's own clock, so that
// a sleep asked for now is never over early. Node clocks may differ by an hour; only the store's decides.
import type { Platform } from "../platform/platform.ts";

// A difference this large is a stepped clock, not a slow answer.
const steppedMs = 1_000;

export class StoreTime {
  private offset: number | null = null;

  constructor(private readonly platform: Pick<Platform, "monoMs" | "wallMs">) {}

  /** Takes in an answer: the store said `now` after we asked at `askedMono`. The smallest bound is the best one. */
  note(askedMono: number, now: number): void {
    const offset = now - askedMono;
    if (this.offset === null || offset < this.offset || offset > this.offset + steppedMs) this.offset = offset;
  }

  now(): number {
    return this.offset === null ? this.platform.wallMs() : Math.ceil(this.platform.monoMs() + this.offset);
  }
}
