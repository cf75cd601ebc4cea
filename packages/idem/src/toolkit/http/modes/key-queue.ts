// Duplicates of one process wait here and not in the database: a key that everybody asks for holds one session, and not the whole pool.
// Those of other processes wait on the index.
import type { Platform } from "../../../platform/platform.ts";

/** A client that retries in a loop must not fill the process: those beyond are asked to come again. */
const waitingMax = 200;

export type Turn<T> =
  | { readonly kind: "ran"; readonly value: T }
  /** Somebody else was at work: what they left is to be looked at first. */
  | { readonly kind: "waited" }
  /** There was no time, or too many wait already. */
  | { readonly kind: "refused" };

export class KeyQueue {
  private waiting = 0;
  private readonly atWork = new Map<string, Promise<unknown>>();

  constructor(private readonly platform: Platform) {}

  /** One at a time for each id. A call that finds one at work does nothing but wait for its end, for `waitMs` at most. */
  async run<T>(id: string, waitMs: number, work: () => Promise<T>): Promise<Turn<T>> {
    const before = this.atWork.get(id);
    if (before !== undefined) {
      if (waitMs <= 0 || this.waiting >= waitingMax) return { kind: "refused" };
      this.waiting++;
      await this.endOf(before, waitMs);
      this.waiting--;
      return { kind: "waited" };
    }
    const working = work();
    const ended = working.then(
      () => this.atWork.delete(id),
      () => this.atWork.delete(id),
    );
    this.atWork.set(id, ended);
    return { kind: "ran", value: await working };
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
