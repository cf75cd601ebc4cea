// Whether the store takes an operation: a transaction that changes nothing, as every node makes them once a second. Asked once at a time,
// however many look, so that looking costs a store that is ill nothing more; not answered within the bound is unhealthy. Where very many wait
// for the answer already (a line may carry as many looks as it likes), the next get the last one, and hold nothing.
import { IdemError } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";
import type { Store } from "../store/store.ts";

// Longer than a slow disk takes, shorter than a load balancer waits.
const answerMsMax = 2_000;
const lookersMax = 1_000;

export type Health =
  | { readonly isWell: true }
  | { readonly isWell: false; readonly why: string; readonly code: string };

export class StoreHealth {
  private lookers = 0;
  private last: Health | null = null;
  private asking: { readonly since: number; readonly answer: Promise<Health> } | null = null;

  constructor(
    private readonly platform: Pick<Platform, "timer" | "monoMs">,
    private readonly env: string,
    private readonly store: () => Promise<Pick<Store, "tick">>,
  ) {}

  async check(): Promise<Health> {
    if (this.lookers >= lookersMax && this.last !== null) return this.last;
    this.lookers++;
    try {
      this.last = await this.look();
      return this.last;
    } finally {
      this.lookers--;
    }
  }

  private async look(): Promise<Health> {
    this.asking ??= { since: this.platform.monoMs(), answer: this.ask() };
    const { since, answer } = this.asking;
    const leftMs = Math.max(0, since + answerMsMax - this.platform.monoMs());
    if (await waitAtMost(this.platform, leftMs, answer)) return answer;
    return { isWell: false, why: `the store has not answered for ${answerMsMax} ms`, code: "STORE_UNAVAILABLE" };
  }

  private async ask(): Promise<Health> {
    try {
      const store = await this.store();
      await store.tick({ env: this.env, registration: null, ticks: [], leaseTo: null });
      return { isWell: true };
    } catch (error) {
      // Its words may name hosts and paths, and anybody may ask: the code is enough, and the log has the rest.
      const code = error instanceof IdemError ? error.code : "SERVER_FAILED";
      return { isWell: false, why: "the store does not take operations", code };
    } finally {
      this.asking = null;
    }
  }
}
