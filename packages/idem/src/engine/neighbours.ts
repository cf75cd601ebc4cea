// Other processes over the same store. What they did is found by looking, and sooner where the store passes on a hint:
//
//   another process …             hint          found without it
//   left due work                 lease now     with the worker's poll, within a second
//   has news for a run held here  collect now   with the next look at runs that have been at work for a while
//   registered or paused          read now      with the next look at the registration, within a second
import type { Platform } from "../platform/platform.ts";
import type { StoreHint, StoreSharing } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import { limits } from "./limits.ts";
import type { Registry } from "./registry.ts";
import { hearTime, type StoreTime } from "./store-time.ts";

/** Code under way; `poke` says that the store has news for it. */
interface AtWork {
  poke(): void;
}

export interface NeighboursOptions {
  readonly shared: StoreSharing;
  readonly store: Pick<Store, "tick">;
  readonly platform: Pick<Platform, "timer" | "monoMs">;
  readonly env: string;
  readonly registry: Pick<Registry, "registration" | "refresh">;
  readonly time: Pick<StoreTime, "note">;
  /** Something may be due. */
  readonly onQueued: () => void;
  /** The run's code under way in this process; null when there is none. */
  readonly atWorkOn: (runId: string) => AtWork | null;
  readonly atWork: () => readonly AtWork[];
  readonly report: (what: string, error: unknown) => void;
}

export class Neighbours {
  private readonly housekeeping: Housekeeping;
  private unsubscribe: (() => void) | null = null;
  private looking = false;
  private again = false;
  private isOver = false;
  /** The runs at work at the last look: one that ends sooner collects anyway. */
  private before = new Set<AtWork>();

  constructor(private readonly options: NeighboursOptions) {
    this.housekeeping = new Housekeeping(options.platform);
  }

  start(): void {
    if (this.isOver || this.unsubscribe !== null) return;
    this.unsubscribe = this.options.shared.subscribe((hint) => this.hear(hint));
    this.housekeeping.every(pollMsOf(this.options.shared), () => this.look());
    this.housekeeping.every(limits.sweepMs, async () => this.collect());
  }

  stop(): void {
    this.isOver = true;
    this.unsubscribe?.();
    this.housekeeping.stop();
  }

  private hear(hint: StoreHint): void {
    const { env, onQueued, atWorkOn } = this.options;
    if (this.isOver || (hint.env !== env && hint.env !== "")) return;
    if (hint.kind === "queued") onQueued();
    // Also under another worker's name: then the run was taken from this process, which finds out.
    else if (hint.kind === "collect") atWorkOn(hint.runId)?.poke();
    else if (hint.kind === "registered") void this.look();
  }

  /** Whether functions changed; asked for by many at once, it is looked once more after the look under way. */
  private async look(): Promise<void> {
    if (this.looking) {
      this.again = true;
      return;
    }
    this.looking = true;
    try {
      do {
        this.again = false;
        await hearTime(this.options);
      } while (this.again && !this.isOver);
    } catch (error) {
      if (!this.isOver) this.options.report("looking for changed functions", error);
    } finally {
      this.looking = false;
    }
  }

  private collect(): void {
    const now = new Set(this.options.atWork());
    for (const each of now) if (this.before.has(each)) each.poke();
    this.before = now;
  }
}

/** Beneath every hint: so long a change may go unseen. */
export const pollMsOf = (shared: StoreSharing | null): number =>
  Math.min(limits.pollMs, shared?.pollMs ?? limits.pollMs);
