// If others take over, a busy event loop must not cost a process its leases: they are extended beside the main thread. The thread for it may
// fail to start, or end, while the store is away; it is started again, and the main thread beats meanwhile.
import type { Platform, Timer } from "../platform/platform.ts";
import type { Beats, WorkerAbout } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";
import type { LeaseNames } from "./lease-names.ts";
import { limits } from "./limits.ts";

export interface ExtendBesideOptions {
  readonly store: Pick<Store, "shared">;
  readonly platform: Pick<Platform, "timer">;
  readonly names: Pick<LeaseNames, "extendBy">;
  readonly leaseTermMs: number;
  readonly blockedMaxMs: number;
  readonly about?: WorkerAbout | undefined;
  readonly report: (what: string, error: unknown) => void;
}

export class ExtendBeside {
  private opening: Promise<Beats | null> = Promise.resolve(null);
  private again: Timer | null = null;
  private isOver = false;

  constructor(private readonly options: ExtendBesideOptions) {}

  start(pauseMs: number = limits.brokenDelayMs): void {
    if (this.options.store.shared?.beats !== undefined) this.opening = this.open(pauseMs);
  }

  /** Returns the beats it had open; the names it extends are given up first. */
  async stop(): Promise<Beats | null> {
    this.isOver = true;
    this.again?.cancel();
    return this.opening;
  }

  private async open(pauseMs: number): Promise<Beats | null> {
    const { store, names, leaseTermMs: termMs, blockedMaxMs, about, report, platform } = this.options;
    let isTold = false;
    const onTrouble = (error: unknown) => {
      if (isTold || this.isOver) return;
      isTold = true;
      names.extendBy(null);
      report("extending leases beside the main thread, which does it itself meanwhile,", error);
      const nextMs = Math.min(pauseMs * 2, limits.brokenDelayMsMax);
      this.again = platform.timer(pauseMs, () => this.start(nextMs), { background: true });
    };
    try {
      const beats = await store.shared!.beats!({ termMs, blockedMaxMs, about, onTrouble });
      if (!isTold) names.extendBy(beats);
      return beats;
    } catch (error) {
      onTrouble(error);
      return null;
    }
  }
}
