// Duplicates of one process wait here and not in the database: a key that everybody asks for holds one session, and not the whole pool.
// Those of other processes wait on the index.
import type { Platform } from "../../../platform/platform.ts";

/** A client that retries in a loop must not fill the process: those beyond are told to come again. */
const waitingMax = 200;

export class KeyQueue {
  private waiting = 0;
  private readonly atWork = new Map<string, Promise<unknown>>();

  constructor(private readonly platform: Platform) {}

  /** One at a time for each id. Null when it was not its turn within `waitMs`, or too many wait already. */
  async run<T>(id: string, waitMs: number, work: () => Promise<T>): Promise<T | null> {
    const untilMs = this.platform.monoMs() + waitMs;
    for (let before = this.atWork.get(id); before !== undefined; before = this.atWork.get(id)) {
      const leftMs = untilMs - this.platform.monoMs();
      if (leftMs <= 0 || this.waiting >= waitingMax) return null;
      this.waiting++;
      await this.endOf(before, leftMs);
      this.waiting--;
    }
    const working = work();
    const ended = working.then(
      () => this.atWork.delete(id),
      () => this.atWork.delete(id),
    );
    this.atWork.set(id, ended);
    return working;
  }

  private endOf(before: Promise<unknown>, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.platform.timer(ms, resolve);
      before.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}
