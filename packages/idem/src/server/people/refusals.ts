// Which wrong passwords the audit hears of. It is kept for a year or more and strangers can make it grow, so it hears of ten in a minute and then
// of how many it did not hear of.
import type { Platform } from "../../platform/platform.ts";

const notedMax = 10;
const minuteMs = 60_000;

export class Refusals {
  private since = Number.NEGATIVE_INFINITY;
  private noted = 0;
  private unheard = 0;

  constructor(private readonly platform: Pick<Platform, "monoMs">) {}

  /** What to add to the note; null when nothing is to be noted. */
  note(): string | null {
    const now = this.platform.monoMs();
    if (now - this.since >= minuteMs) {
      this.since = now;
      this.noted = 0;
    }
    if (this.noted === notedMax) {
      this.unheard++;
      return null;
    }
    this.noted++;
    const words = this.unheard === 0 ? "" : `; ${this.unheard} before it were not noted`;
    this.unheard = 0;
    return words;
  }
}
