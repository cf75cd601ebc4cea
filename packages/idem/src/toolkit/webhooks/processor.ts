// Processes what a receiver kept in the user's database. Any number of processes may; each event is claimed by one of them under a lease.
//
//   persisted, or gathering until its window is over ──claim──▶ processing ──returned──▶ done
//      ▲                                                          ├─ threw ─▶ persisted, later each time ─▶ dead after `attempts`
//      └── its process died: the lease ends ──────────────────────┘                       dead ─▶ persisted, by a person: replay

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { NonRetriableError } from "../../model/user-errors.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import { keepLease } from "../claim/keep-lease.ts";
import { newOwner } from "../claim/owner-name.ts";
import type { Adapter, SyncAdapter } from "../sql/adapter.ts";
import { readyTables } from "../sql/ready-tables.ts";
import type { LogicalRow } from "./absorb-event.ts";
import {
  type ClaimedEvent,
  carriedEvents,
  claimEvents,
  type EventEnd,
  endEvent,
  extendEvent,
  reapEvents,
  replayEvent,
  type WaitingEvent,
  waitingEvents,
} from "./claim-events.ts";
import { readSource } from "./webhook.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** What a processor is given: a raw event, or a logical one with what it carries. */
export interface ProcessedEvent<Payload> extends WebhookEvent<Payload> {
  /** The same on every attempt: hand it to what you write to. */
  readonly key: string;
  /** Of a logical event: whether the thing came to be within its window. */
  readonly wasNew: boolean;
  /** Of a logical event: the ids of the raw ones it carries. */
  readonly carries: readonly string[];
}

export interface ProcessContext {
  /** From 1. */
  readonly attempt: number;
  /** Aborts with reason "lease-lost" when another process has the event now. */
  readonly signal: AbortSignal;
}

interface CommonOptions<Tx> {
  readonly store: Adapter<Tx>;
  readonly source: string;
  /** Tries until it is dead: 8 by default, over about four minutes. */
  readonly attempts?: number;
  /** "60s" by default; a heartbeat goes out every third of it. */
  readonly lease?: string | number;
  /** How often is looked for what is due: "1s" by default. */
  readonly every?: string | number;
  /** How many at once: 4 by default. */
  readonly concurrency?: number;
  readonly onDead?: (event: { readonly source: string; readonly id: string; readonly reason: string }) => void;
  readonly report?: (what: string, error: unknown) => void;
  readonly platform?: Platform;
}

export interface AtLeastOnce<Payload, Tx> extends CommonOptions<Tx> {
  /** At least once: a process that dies in the middle leaves it to be entered again, with the same `event.key`. */
  readonly process: (event: ProcessedEvent<Payload>, context: ProcessContext) => unknown;
}

export interface InTransaction<Payload, Tx> extends CommonOptions<Tx> {
  /** Exactly once, for what it writes with `tx`: that and the event's being done are one commit. Not async on better-sqlite3. */
  readonly processInTransaction: (
    tx: Tx,
    event: ProcessedEvent<Payload>,
    context: { readonly attempt: number },
  ) => unknown;
}

export type ProcessorOptions<Payload, Tx> = AtLeastOnce<Payload, Tx> | InTransaction<Payload, Tx>;

export interface WebhookProcessor {
  start(): void;
  /** Claims nothing more, and resolves once what was claimed has ended. */
  stop(): Promise<void>;
  /** Processes what is due now, until nothing is; resolves with how many attempts that took. */
  tick(): Promise<number>;
  /** What is dead or in quarantine, oldest first. */
  waiting(options?: { readonly limit?: number }): Promise<readonly WaitingEvent[]>;
  /** A dead event is tried again from the start; false when it is not dead. */
  replay(id: string): Promise<boolean>;
  /** Deletes rows whose window is over; done by itself once an hour while started. */
  reap(limit?: number): Promise<number>;
}

const knownOptions = {
  store: true,
  source: true,
  attempts: true,
  lease: true,
  every: true,
  concurrency: true,
  onDead: true,
  report: true,
  platform: true,
  process: true,
  processInTransaction: true,
} as const;

const reapEveryMs = 3_600_000;
const backoffMs = (attempt: number): number => Math.min(1_000 * 2 ** attempt, 300_000);

export function webhookProcessor<Payload = any, Tx = any>(options: ProcessorOptions<Payload, Tx>): WebhookProcessor {
  refuseUnknown<ProcessorOptions<Payload, Tx>>("webhookProcessor", options, knownOptions);
  const { store: adapter, platform = nodePlatform, attempts = 8, concurrency = 4, onDead } = options;
  const refuse = (option: string, why: string) =>
    errors.TOOLKIT_OPTION_INVALID({ call: "webhookProcessor", option, why });
  if (!Number.isInteger(attempts) || attempts < 1) throw refuse("attempts", "it must be a whole number above 0");
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw refuse("concurrency", "it must be a whole number above 0");
  const source = readSource(options.source);
  const leaseMs = parseDuration(options.lease ?? "60s", "lease");
  const everyMs = parseDuration(options.every ?? "1s", "every");
  const report = options.report ?? ((what, error) => console.error(`Idem webhooks: ${what}`, error));
  const attemptOne =
    "processInTransaction" in options ? inTransaction(options) : atLeastOnce(options, platform, leaseMs);
  const { dialect } = adapter;
  let timers: Timer[] | null = null;
  let ticking: Promise<number> | null = null;

  const processOne = async (claimed: ClaimedEvent): Promise<void> => {
    try {
      const event = await eventOf<Payload>(adapter, claimed);
      await attemptOne(event, claimed);
    } catch (error) {
      const end = endOf(error, claimed.attempt, attempts);
      const isHeld = await adapter.perform(endEvent(dialect, claimed, end));
      if (!isHeld || end.kind !== "dead") return;
      if (onDead === undefined) report(`event ${claimed.id} of ${source} is dead`, error);
      else onDead({ source, id: claimed.id, reason: end.reason });
    }
  };

  const drain = async (): Promise<number> => {
    await readyTables(adapter, ["processed_webhook_events"]);
    let count = 0;
    for (;;) {
      const ask = { source, owner: newOwner(platform), leaseMs, attemptsMax: attempts, max: concurrency };
      const claimed = await adapter.perform(claimEvents(dialect, ask));
      await Promise.all(claimed.map(processOne));
      count += claimed.length;
      if (claimed.length === 0) return count;
    }
  };
  const tick = (): Promise<number> => {
    ticking ??= drain().finally(() => {
      ticking = null;
    });
    return ticking;
  };

  const every = (ms: number, at: number, run: () => Promise<unknown>, what: string): void => {
    if (timers === null) return;
    timers[at] = platform.timer(ms, () => {
      run()
        .catch((error) => report(what, error))
        .finally(() => every(ms, at, run, what));
    });
  };

  return {
    start() {
      if (timers !== null) return;
      timers = [];
      every(everyMs, 0, tick, `looking for what is due of ${source}`);
      every(reapEveryMs, 1, () => adapter.perform(reapEvents(dialect, 1_000)), `reaping ${source}`);
    },
    async stop() {
      for (const timer of timers ?? []) timer.cancel();
      timers = null;
      await ticking;
    },
    tick,
    waiting: ({ limit = 100 } = {}) => adapter.perform(waitingEvents(source, limit)),
    replay: (id) => adapter.perform(replayEvent(dialect, source, id)),
    reap: (limit = 1_000) => adapter.perform(reapEvents(dialect, limit)),
  };
}

type Attempt<Payload> = (event: ProcessedEvent<Payload>, claimed: ClaimedEvent) => Promise<void>;

function atLeastOnce<Payload>(
  { store: adapter, process }: AtLeastOnce<Payload, any>,
  platform: Platform,
  leaseMs: number,
): Attempt<Payload> {
  const { dialect } = adapter;
  return async (event, claimed) => {
    const lease = keepLease(platform, leaseMs, () => adapter.perform(extendEvent(dialect, claimed, leaseMs)));
    try {
      await process(event, { attempt: claimed.attempt, signal: lease.signal });
    } finally {
      lease.end();
    }
    // Where the lease was lost somebody else has it, and ends it.
    await adapter.perform(endEvent(dialect, claimed, { kind: "done" }));
  };
}

/** No heartbeat: a transaction that is still open when its lease ends finds the other claim, and is undone. */
function inTransaction<Payload, Tx>(options: InTransaction<Payload, Tx>): Attempt<Payload> {
  const { store: adapter, processInTransaction } = options;
  const done = (claimed: ClaimedEvent) => endEvent(adapter.dialect, claimed, { kind: "done" });
  const checkHeld = (isHeld: boolean): void => {
    if (!isHeld) throw new Error("the lease was lost, so nothing of this attempt is kept");
  };
  return async (event, claimed) => {
    const { attempt } = claimed;
    if (adapter.bodies === "sync") {
      const sync = adapter as SyncAdapter<Tx>;
      await sync.transaction((tx) => {
        const value = processInTransaction(tx, event, { attempt });
        checkHeld(sync.performSync(tx, done(claimed)));
        return value;
      });
      return;
    }
    await adapter.transaction(async (tx) => {
      await processInTransaction(tx, event, { attempt });
      checkHeld(await adapter.wrap(tx).perform(done(claimed)));
    });
  };
}

function endOf(error: unknown, attempt: number, attemptsMax: number): EventEnd {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const isHopeless = error instanceof NonRetriableError || attempt >= attemptsMax;
  return isHopeless ? { kind: "dead", reason } : { kind: "again", afterMs: backoffMs(attempt), reason };
}

async function eventOf<Payload>(adapter: Adapter<any>, claimed: ClaimedEvent): Promise<ProcessedEvent<Payload>> {
  const { source, id, type, subject, at } = claimed;
  const common = { source, id, type, subject, at, key: `${source}:${id}` };
  const value = JSON.parse(claimed.payload);
  if (claimed.kind === "raw") return { ...common, payload: value as Payload, changed: [], wasNew: false, carries: [] };
  const { changed, wasNew, newest } = value as LogicalRow;
  const carries = await adapter.perform(carriedEvents(source, id));
  return { ...common, payload: JSON.parse(newest) as Payload, changed, wasNew, carries };
}
