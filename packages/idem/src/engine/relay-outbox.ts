// Sends on what users wrote into the outbox: takes what is there, accepts it under the ids it already has, then strikes it off. Every
// node that executes does it. Only the user knows when a transaction of theirs commits, so it is looked for: a few times right after
// something was put in here, and else as often as for everything that other processes do.
//
//   taken ─▶ accepted together ─▶ struck off
//     └─ failed ─▶ its lease ends ─▶ taken again, later each time ─▶ accepted alone ─┬─▶ struck off
//                                                                                   └─ can never be ─▶ parked
import { IdemError } from "../model/errors.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import type { StoreOutbox, TakenEntry } from "../store/outbox.ts";
import type { NewEvent } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import { limits } from "./limits.ts";

export interface RelayOptions {
  readonly outbox: StoreOutbox;
  readonly platform: Pick<Platform, "timer">;
  readonly env: string;
  readonly pollMs: number;
  /** Below 1. */
  readonly random: () => number;
  readonly ingest: (events: readonly NewEvent[]) => Promise<unknown>;
  readonly report: (what: string, error: unknown) => void;
}

type ReadEntry = TakenEntry & { readonly event: NewEvent };

export class OutboxRelay {
  private readonly housekeeping: Housekeeping;
  private state: "new" | "running" | "over" = "new";
  /** How long until each of the next looks. */
  private soonMs: readonly number[] = [];
  private timer: Timer | null = null;
  private looking: Promise<void> | null = null;

  constructor(private readonly options: RelayOptions) {
    this.housekeeping = new Housekeeping(options.platform);
  }

  start(): void {
    if (this.state !== "new") return;
    this.state = "running";
    this.housekeeping.every(this.options.pollMs, () => this.look());
  }

  /** Resolves once what was taken is sent on, or left to others. */
  async stop(): Promise<void> {
    this.state = "over";
    this.housekeeping.stop();
    this.timer?.cancel();
    await this.idle();
  }

  async idle(): Promise<void> {
    await this.looking;
  }

  /** Something was put into a transaction, which will commit or not. */
  soon(): void {
    this.soonMs = limits.outboxLooksMs;
    this.arm();
  }

  private arm(): void {
    if (this.timer !== null || this.state !== "running") return;
    const [ms, ...rest] = this.soonMs;
    if (ms === undefined) return;
    this.soonMs = rest;
    const look = () => {
      this.timer = null;
      void this.look().finally(() => this.arm());
    };
    this.timer = this.options.platform.timer(ms, look, { background: true });
  }

  private look(): Promise<void> {
    this.looking ??= this.relay().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  private async relay(): Promise<void> {
    const { outbox, env, report } = this.options;
    try {
      while (this.state === "running") {
        const max = limits.outboxBatch;
        const taken = await outbox.take({ env, max, leaseMs: limits.outboxLeaseMs });
        if (taken.length > 0) await this.send(taken);
        if (taken.length < max) return;
      }
    } catch (error) {
      // Whatever was taken is taken again once its lease is over.
      if (this.state === "running") report("sending on what was sent in transactions", error);
    }
  }

  private async send(taken: readonly TakenEntry[]): Promise<void> {
    const { outbox, env, ingest } = this.options;
    const entries: ReadEntry[] = [];
    for (const { id, tries, event } of taken) {
      if (event === null) await this.park(id, new Error("its entry cannot be read"));
      else entries.push({ id, tries, event });
    }
    const fresh = entries.filter(({ tries }) => tries === 1);
    if (fresh.length > 0) {
      await ingest(fresh.map(({ event }) => event));
      await outbox.done(
        env,
        fresh.map(({ id }) => id),
      );
    }
    await this.sendAlone(entries.filter(({ tries }) => tries > 1));
  }

  /** What failed before goes by itself and in no order, so that one that always fails is not in the way of others. */
  private async sendAlone(entries: readonly ReadEntry[]): Promise<void> {
    const { outbox, env, random, ingest } = this.options;
    const left = [...entries];
    let failures = 0;
    while (left.length > 0) {
      const [{ id, event }] = left.splice(Math.floor(random() * left.length), 1) as [ReadEntry];
      try {
        await ingest([event]);
        await outbox.done(env, [id]);
      } catch (error) {
        if (error instanceof IdemError && error.retry !== "later") await this.park(id, error);
        // Then it is rather the store: the rest can wait.
        else if (++failures === limits.outboxFailuresMax) throw error;
        else this.options.report(`sending on event ${id}, which was sent in a transaction,`, error);
      }
    }
  }

  private async park(id: string, error: Error): Promise<void> {
    const { outbox, env, report } = this.options;
    await outbox.park(env, id, error.message);
    report(`event ${id}, which was sent in a transaction, is kept in the outbox and not tried again: accepting it`, error);
  }
}
