// Sends on what users wrote into the outbox: takes what is there, accepts it under the ids it already has, then strikes it off. Every
// node that executes does it. Only the user knows when a transaction of theirs commits, so it is looked for: a few times right after
// something was put in here, and else as often as for everything that other processes do.
//
//   taken ─▶ accepted together ─▶ struck off
//     └─ failed ─▶ its lease ends ─▶ taken again, later each time ─▶ accepted alone ─┬─▶ struck off
//                                                                                   └─ can never be ─▶ parked
import { errors, IdemError } from "../model/errors.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { StoreOutbox, TakenEntry, UserTransaction } from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import { limits } from "./limits.ts";
import { pollMsOf } from "./neighbours.ts";

export interface RelayOptions {
  readonly store: Pick<Store, "outbox" | "shared">;
  readonly platform: Pick<Platform, "timer" | "randomBytes">;
  readonly env: string;
  readonly ingest: (events: readonly NewEvent[]) => Promise<unknown>;
  readonly report: (what: string, error: unknown) => void;
}

type ReadEntry = TakenEntry & { readonly event: NewEvent };

export class OutboxRelay {
  private readonly housekeeping: Housekeeping;
  private state: "new" | "running" | "over" = "new";
  /** The times until each of the next looks. */
  private soonMs: readonly number[] = [];
  private timer: Timer | null = null;
  private looking: Promise<void> | null = null;

  constructor(private readonly options: RelayOptions) {
    this.housekeeping = new Housekeeping(options.platform);
  }

  /** Null where events cannot be sent inside a transaction. */
  private get outbox() {
    return this.options.store.outbox;
  }

  start(): void {
    if (this.state !== "new" || this.outbox === null) return;
    this.state = "running";
    this.housekeeping.every(pollMsOf(this.options.store.shared), () => this.look());
    void this.look();
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

  /** Into a transaction of the user's, which will commit or not. */
  async put(tx: UserTransaction, events: readonly NewEvent[]): Promise<void> {
    if (this.outbox === null) throw errors.TRANSACTION_UNSUPPORTED({ call: "send(events, { tx })" });
    await this.outbox.put(tx, this.options.env, events);
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
    const { env, report } = this.options;
    const { outbox } = this;
    try {
      while (this.state === "running" && outbox !== null) {
        const max = limits.outboxBatch;
        const taken = await outbox.take({ env, max, leaseMs: limits.outboxLeaseMs });
        if (taken.length > 0) await this.send(outbox, taken);
        if (taken.length < max) return;
      }
    } catch (error) {
      // Whatever was taken is taken again once its lease is over.
      if (this.state === "running") report("sending on what was sent in transactions", error);
    }
  }

  private async send(outbox: StoreOutbox, taken: readonly TakenEntry[]): Promise<void> {
    const { env, ingest } = this.options;
    const entries: ReadEntry[] = [];
    for (const { id, tries, event } of taken) {
      if (event === null) await this.park(outbox, id, new Error("its entry cannot be read"));
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
    await this.sendAlone(
      outbox,
      entries.filter(({ tries }) => tries > 1),
    );
  }

  /** An entry that failed before goes by itself and in no order, so that one that always fails is not in the way of others. */
  private async sendAlone(outbox: StoreOutbox, entries: readonly ReadEntry[]): Promise<void> {
    const { env, platform, ingest, report } = this.options;
    const left = [...entries];
    let failures = 0;
    while (left.length > 0) {
      const position = platform.randomBytes(1)[0]! % left.length;
      const [{ id, event }] = left.splice(position, 1) as [ReadEntry];
      try {
        await ingest([event]);
        await outbox.done(env, [id]);
      } catch (error) {
        if (error instanceof IdemError && error.retry !== "later") await this.park(outbox, id, error);
        // Then it is rather the store: the rest can wait.
        else if (++failures === limits.outboxFailuresMax) throw error;
        else report(`sending on event ${id}, which was sent in a transaction,`, error);
      }
    }
  }

  private async park(outbox: StoreOutbox, id: string, error: Error): Promise<void> {
    const { env, report } = this.options;
    await outbox.park(env, id, error.message);
    report(
      `event ${id}, which was sent in a transaction, is kept in the outbox and not tried again: accepting it`,
      error,
    );
  }
}
