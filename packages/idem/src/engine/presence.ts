// A process that executes nothing is there all the same: it beats under a name of its own, to which nothing is ever leased, so
// that people see it among the nodes.
import type { Platform } from "../platform/platform.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LeaseNames, type LeaseNamesOptions } from "./lease-names.ts";
import { nextHeartbeatMs } from "./upkeep.ts";

export class Presence {
  private readonly names: LeaseNames;
  private readonly housekeeping: Housekeeping;
  private readonly leaseTermMs: number;

  constructor(
    options: Pick<LeaseNamesOptions, "store" | "time" | "newId" | "leaseTermMs" | "about" | "report"> & {
      readonly platform: Platform;
    },
  ) {
    const holdsNothing = { isUsed: () => false, giveUp: () => {}, onFreed: () => {} };
    this.names = new LeaseNames({ ...options, ...holdsNothing, othersTakeOver: false });
    this.housekeeping = new Housekeeping(options.platform);
    this.leaseTermMs = options.leaseTermMs;
  }

  async start(): Promise<void> {
    const { names, leaseTermMs } = this;
    this.housekeeping.paced(await nextHeartbeatMs(names, leaseTermMs), () => nextHeartbeatMs(names, leaseTermMs));
  }

  async stop(): Promise<void> {
    this.housekeeping.stop();
    await this.names.close();
  }
}
