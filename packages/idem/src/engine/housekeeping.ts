// Things to be done again and again, beside the work. The next turn begins only once the last one is over.
import type { Platform, Timer } from "../platform/platform.ts";

export class Housekeeping {
  private readonly timers: Timer[] = [];
  private isOver = false;

  constructor(private readonly platform: Pick<Platform, "timer">) {}

  every(ms: number, run: () => Promise<void>): void {
    this.arm(this.timers.length, ms, async () => {
      await run();
      return ms;
    });
  }

  /** As `every`, but up to a quarter sooner or later: many processes must not all do it at the same instant. `chance` is below 1. */
  around(ms: number, chance: () => number, run: () => Promise<void>): void {
    const nextMs = () => ms * (0.75 + chance() / 2);
    this.paced(nextMs(), async () => {
      await run();
      return nextMs();
    });
  }

  /** As `every`, but each turn says how long it is until the next. */
  paced(firstMs: number, run: () => Promise<number>): void {
    this.arm(this.timers.length, firstMs, run);
  }

  private arm(slot: number, ms: number, run: () => Promise<number>): void {
    const turn = () => {
      if (this.isOver) return;
      // A turn that failed unforeseen comes again as it came this time.
      let nextMs = ms;
      void run()
        .then((given) => {
          nextMs = given;
        })
        .finally(() => {
          if (!this.isOver) this.arm(slot, nextMs, run);
        });
    };
    this.timers[slot] = this.platform.timer(ms, turn, { background: true });
  }

  stop(): void {
    this.isOver = true;
    for (const timer of this.timers) timer.cancel();
  }
}
