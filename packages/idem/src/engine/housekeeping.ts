// What a worker does besides its work, again and again: beat, sweep, look. The next turn begins only once the last one is over.
import type { Platform, Timer } from "../platform/platform.ts";

export class Housekeeping {
  private readonly timers: Timer[] = [];
  private isOver = false;

  constructor(private readonly platform: Pick<Platform, "timer">) {}

  every(ms: number, run: () => Promise<void>): void {
    const slot = this.timers.length;
    const arm = () => {
      const turn = () => {
        if (this.isOver) return;
        void run().finally(() => {
          if (!this.isOver) arm();
        });
      };
      this.timers[slot] = this.platform.timer(ms, turn, { background: true });
    };
    arm();
  }

  stop(): void {
    this.isOver = true;
    for (const timer of this.timers) timer.cancel();
  }
}
