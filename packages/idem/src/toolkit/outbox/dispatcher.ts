// Hands messages on, at least once each: claims what is due, calls user code under a lease, writes how it ended. Any number of processes may.
//
//   pending ──claim: started + 1──▶ leased ──returned──▶ done
//      ▲                              ├─ threw ─▶ pending, later each time ─▶ dead after `attempts`
//      └── its process died: lease over, finished stays behind; three times ─▶ dead, "poison"
import type { Platform, Timer } from "../../platform/platform.ts";
import { newOwner } from "../claim/claim-operations.ts";
import { endOf, underLease, type WorkEnd } from "../claim/work-under-claim.ts";
import type { Adapter } from "../sql/adapter.ts";
import { sqlOf } from "../sql/operation.ts";
import type { OutboxMessage, TakenMessage } from "./message.ts";
import { claimMessages, endMessage, extendMessage, type MessageHolder, poison, reapMessages } from "./messages.ts";

export interface MessageContext {
  /** From 1. */
  readonly attempt: number;
  /** Aborts with reason "lease-lost" when another process has the message now. */
  readonly signal: AbortSignal;
  /** Since the first attempt began, by the database's clock: longer than the destination's memory of keys, and it may not know this one. */
  readonly triedForMs: number;
}

export type MessageTask = (message: OutboxMessage, context: MessageContext) => unknown;

export interface DispatcherOptions {
  readonly adapter: Adapter<unknown>;
  readonly platform: Platform;
  readonly report: (what: string, error: unknown) => void;
  readonly topics: readonly string[] | null;
  readonly taskOf: (topic: string) => MessageTask;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly attemptsMax: number;
  readonly pollMs: number;
}

/** Tries that ended their process rather than failed. */
const poisonStarts = 3;

// Only the user knows when their transaction commits: this long after each `send` of this process it is looked for.
const looksMs = [10, 50, 200, 600];

// Housekeeping; correctness never waits for it.
const reapEveryMs = 3_600_000;
const reapBatch = 1_000;

export class Dispatcher {
  private readonly working = new Set<Promise<void>>();
  private looking: Promise<void> | null = null;
  private isAskedAgain = false;
  private isStopped = false;
  private readonly timers = new Set<Timer>();
  /** Delays of the next looks; one of them is armed at a time, however many messages are put in. */
  private soonMs: readonly number[] = [];
  private isArmed = false;

  constructor(private readonly options: DispatcherOptions) {
    this.every(options.pollMs, () => this.nudge());
    this.every(reapEveryMs, () => void this.reap());
    this.nudge();
  }

  /** Looks now. Nothing depends on it: the next poll finds what was missed. */
  nudge(): void {
    if (this.isStopped) return;
    if (this.looking !== null) {
      this.isAskedAgain = true;
      return;
    }
    this.looking = this.look().finally(() => {
      this.looking = null;
      if (!this.isAskedAgain) return;
      this.isAskedAgain = false;
      this.nudge();
    });
  }

  /** Something was put in, and will be committed or not. */
  nudgeSoon(): void {
    this.soonMs = looksMs;
    this.arm();
  }

  private arm(): void {
    const [ms, ...rest] = this.soonMs;
    if (this.isArmed || ms === undefined) return;
    this.soonMs = rest;
    this.isArmed = true;
    this.after(ms, () => {
      this.isArmed = false;
      this.nudge();
      this.arm();
    });
  }

  /** Resolves once nothing is being looked for or handed on. */
  async idle(): Promise<void> {
    while (this.looking !== null || this.working.size > 0) await Promise.all([this.looking, ...this.working]);
  }

  /** Claims nothing more, and resolves once what was claimed has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
    await this.idle();
  }

  private async look(): Promise<void> {
    const { adapter, platform, topics, leaseMs, concurrency, report } = this.options;
    try {
      while (!this.isStopped) {
        const max = concurrency - this.working.size;
        if (max <= 0) return;
        const owner = newOwner(platform);
        const taken = await adapter.perform(claimMessages(sqlOf(adapter.dialect), { owner, leaseMs, max, topics }));
        for (const message of taken) this.begin(message, owner);
        if (taken.length < max) return;
      }
    } catch (error) {
      report("looking for messages in the outbox", error);
    }
  }

  private begin(message: TakenMessage, owner: string): void {
    const work = this.handOn(message, { seq: message.seq, owner, started: message.started })
      .catch((error) => this.options.report(`handing on message ${message.id}`, error))
      .finally(() => {
        this.working.delete(work);
        // There is room again, and the next of its order key may be claimed.
        this.nudge();
      });
    this.working.add(work);
  }

  private async handOn(message: TakenMessage, holder: MessageHolder): Promise<void> {
    const { adapter } = this.options;
    const diedCount = message.started - 1 - message.finished;
    const end: WorkEnd =
      diedCount >= poisonStarts ? { kind: "dead", reason: poison } : await this.attempt(message, holder);
    if (end.kind === "dead") this.options.report(`message ${message.id} is dead`, new Error(end.reason));
    await adapter.perform(endMessage(sqlOf(adapter.dialect), holder, end));
  }

  private async attempt(message: TakenMessage, holder: MessageHolder): Promise<WorkEnd> {
    const { adapter, platform, leaseMs, attemptsMax, taskOf } = this.options;
    const extend = () => adapter.perform(extendMessage(sqlOf(adapter.dialect), holder, leaseMs));
    const { id, topic, data, event, orderKey, started, finished, triedForMs } = message;
    try {
      await underLease(platform, leaseMs, extend, (signal) =>
        taskOf(topic)({ id, topic, data, event, orderKey }, { attempt: started, signal, triedForMs }),
      );
      return { kind: "done" };
    } catch (error) {
      return endOf(error, started, attemptsMax, finished);
    }
  }

  private async reap(): Promise<void> {
    const { adapter, report } = this.options;
    try {
      while (!this.isStopped && (await adapter.perform(reapMessages(sqlOf(adapter.dialect), reapBatch))) === reapBatch);
    } catch (error) {
      report("deleting old messages of the outbox", error);
    }
  }

  private after(ms: number, run: () => void): void {
    if (this.isStopped) return;
    const timer = this.options.platform.timer(
      ms,
      () => {
        this.timers.delete(timer);
        run();
      },
      { background: true },
    );
    this.timers.add(timer);
  }

  private every(ms: number, run: () => void): void {
    this.after(ms, () => {
      run();
      this.every(ms, run);
    });
  }
}
