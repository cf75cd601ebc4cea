// If other processes take over lost leases, a blocked event loop must not cost a process its own: a thread renews them. It is started, and given
// the leases, before any user code may run, because the first step may already block the loop. The thread may fail to start, or end: then the main
// thread renews, and another thread is started after a backoff.
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
  private beats: Beats | null = null;
  private again: Timer | null = null;
  private pauseMs: number = limits.brokenDelayMs;
  /** The failure was logged, and no thread has connected since. */
  private isReported = false;
  private isOver = false;

  constructor(private readonly options: ExtendBesideOptions) {}

  /** When it returns, the names that may be used are posted to the thread, or the failure is logged. */
  start(): void {
    const { store, names, leaseTermMs: termMs, blockedMaxMs, about } = this.options;
    if (store.shared?.beats === undefined || this.isOver) return;
    let hasFailed = false;
    const onOpen = () => {
      this.pauseMs = limits.brokenDelayMs;
      this.isReported = false;
    };
    const onTrouble = (error: unknown) => {
      if (hasFailed || this.isOver) return;
      hasFailed = true;
      this.startLater(error);
    };
    try {
      this.beats = store.shared.beats({ termMs, blockedMaxMs, about, onOpen, onTrouble });
      names.extendBy(this.beats);
    } catch (error) {
      onTrouble(error);
    }
  }

  private startLater(error: unknown): void {
    const { names, report, platform } = this.options;
    names.extendBy(null);
    this.beats = null;
    if (!this.isReported) report("the heartbeat thread (the main thread renews leases until it is restarted)", error);
    this.isReported = true;
    this.again = platform.timer(this.pauseMs, () => this.start(), { background: true });
    this.pauseMs = Math.min(this.pauseMs * 2, limits.brokenDelayMsMax);
  }

  /** Returns the beats it had open; the names it extends are given up first. */
  stop(): Beats | null {
    this.isOver = true;
    this.again?.cancel();
    return this.beats;
  }
}
