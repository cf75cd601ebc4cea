// One alarm for everything that becomes due by itself: the earliest that was asked for. There are no timers per sleep.
import type { Platform, Timer } from "../platform/platform.ts";
import type { StoreTime } from "./store-time.ts";

export class DueAlarm {
  private next: { readonly at: number; readonly timer: Timer } | null = null;

  constructor(
    private readonly platform: Pick<Platform, "timer">,
    private readonly time: Pick<StoreTime, "now">,
    private readonly ring: () => void,
  ) {}

  /** Rings at this time of the store's clock, or earlier if an earlier one is set. */
  set(at: number): void {
    if (at >= Number.MAX_SAFE_INTEGER || (this.next !== null && this.next.at <= at)) return;
    this.next?.timer.cancel();
    const timer = this.platform.timer(Math.max(0, at - this.time.now()), () => {
      this.next = null;
      this.ring();
    });
    this.next = { at, timer };
  }

  get at(): number | null {
    return this.next?.at ?? null;
  }

  cancel(): void {
    this.next?.timer.cancel();
    this.next = null;
  }
}
