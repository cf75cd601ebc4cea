// A worker's duties besides its work, again and again: it beats to keep its leases, sweeps up after lost workers, and looks
// whether something is due that it was not told of.
import { leaseTimes } from "../model/lease-times.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { LeaseNames } from "./lease-names.ts";
import { limits } from "./limits.ts";
import { pollMsOf } from "./neighbours.ts";

export interface UpkeepOptions {
  readonly store: Pick<Store, "sweep" | "shared">;
  readonly platform: Pick<Platform, "timer" | "point">;
  readonly random: () => number;
  readonly names: Pick<LeaseNames, "beat">;
  readonly leaseTermMs: number;
  /** Something may be due. */
  readonly poke: () => void;
  readonly onRescued: (count: number) => void;
  readonly report: (what: string, error: unknown) => void;
}

const heartbeatMsOf = (leaseTermMs: number): number =>
  Math.min(limits.heartbeatMs, leaseTimes(leaseTermMs).beatEveryMs);

/** One heartbeat; says how long it is until the next. One that failed is retried while the lease is still trusted, not at the next period. */
export async function nextHeartbeatMs(names: Pick<LeaseNames, "beat">, leaseTermMs: number): Promise<number> {
  const everyMs = heartbeatMsOf(leaseTermMs);
  return (await names.beat()) ? everyMs : Math.min(everyMs / 5, limits.brokenDelayMs);
}

export class Upkeep {
  private readonly looking: Housekeeping;
  private readonly beating: Housekeeping;

  constructor(private readonly options: UpkeepOptions) {
    this.looking = new Housekeeping(options.platform);
    this.beating = new Housekeeping(options.platform);
  }

  start(): void {
    const { store, random, names, leaseTermMs, poke } = this.options;
    this.beating.paced(heartbeatMsOf(leaseTermMs), () => nextHeartbeatMs(names, leaseTermMs));
    // Every process over a store sweeps it: the second finds nothing left.
    if (store.shared === null) this.looking.every(limits.sweepMs, () => this.sweep());
    else this.looking.around(limits.sweepMs, random, () => this.sweep());
    this.looking.every(pollMsOf(store.shared), async () => poke());
  }

  /** Nothing new is looked for; what is being finished is still held. */
  stopLooking(): void {
    this.looking.stop();
  }

  stop(): void {
    this.looking.stop();
    this.beating.stop();
  }

  async sweep(): Promise<void> {
    const { store, platform, poke, onRescued, report } = this.options;
    try {
      for (;;) {
        const swept = await store.sweep({ max: limits.sweepRowsMax, repair: false });
        const point = platform.point("rescue:after-commit");
        if (point !== undefined) await point;
        onRescued(swept.rescued);
        if (swept.queued) poke();
        // Each pass is bounded so that others get their turn; what is left is taken up at once.
        if (Math.max(swept.rescued, swept.reaped) < limits.sweepRowsMax && swept.isCounted) return;
      }
    } catch (error) {
      report("sweep", error);
    }
  }
}
