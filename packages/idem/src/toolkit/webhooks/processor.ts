// Processes what a receiver kept in the user's database. Any number of processes may; each event is claimed by one of them under a lease.
//
//   persisted, or gathering until its window is over ──claim──▶ processing ──returned──▶ done
//      ▲                                                          ├─ threw ─▶ persisted, later each time ─▶ dead after `attempts`
//      └── its process died: the lease ends ──────────────────────┘                       dead ─▶ persisted, by a person: replay

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { newOwner } from "../claim/claim-operations.ts";
import type { Held } from "../claim/decide-claim.ts";
import { endOf, repeating, underLease } from "../claim/work-under-claim.ts";
import type { Adapter, SyncAdapter } from "../sql/adapter.ts";
import { sqlOf } from "../sql/operation.ts";
import { readyTables } from "../sql/ready-tables.ts";
import type { LogicalRow } from "./absorb-event.ts";
import { readSource } from "./webhook.ts";
import type { WebhookEvent } from "./webhook-event.ts";
import {
  type ClaimedEvent,
  carriedEvents,
  claimEvents,
  endEvent,
  extendEvent,
  reapEvents,
  replayEvent,
  type WaitingEvent,
  waitingEvents,
} from "./webhook-rows.ts";

/** Given to a processor: a raw event, or a logical one with those it carries. */
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
  /** Time between two looks for due events: "1s" by default. */
  readonly every?: string | number;
  /** Events at once: 4 by default. */
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
  /** Dead or in quarantine, oldest first. */
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

export function webhookProcessor<Payload = unknown, Tx = unknown>(
  options: ProcessorOptions<Payload, Tx>,
): WebhookProcessor {
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
  const sql = sqlOf(adapter.dialect);
  let ticking: Promise<number> | null = null;

  const processOne = async (claimed: ClaimedEvent): Promise<void> => {
    try {
      const event = await eventOf<Payload>(adapter, claimed);
      await attemptOne(event, claimed);
    } catch (error) {
      const end = endOf(error, claimed.attempt, attempts, claimed.attempt);
      const held = await adapter.perform(endEvent(sql, claimed, end));
      if (held === "lost" || end.kind !== "dead") return;
      if (onDead === undefined) report(`event ${claimed.id} of ${source} is dead`, error);
      else onDead({ source, id: claimed.id, reason: end.reason });
    }
  };

  const drain = async (): Promise<number> => {
    await readyTables(adapter, ["processed_webhook_events"]);
    let count = 0;
    for (;;) {
      const ask = { source, owner: newOwner(platform), leaseMs, attemptsMax: attempts, max: concurrency };
      const claimed = await adapter.perform(claimEvents(sql, ask));
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

  const looking = repeating(
    platform,
    everyMs,
    () => tick().then(() => null),
    (error) => report(`looking for what is due of ${source}`, error),
  );
  const reaping = repeating(
    platform,
    reapEveryMs,
    () => adapter.perform(reapEvents(sql, 1_000)).then(() => null),
    (error) => report(`reaping ${source}`, error),
  );
  return {
    start() {
      looking.start(everyMs);
      reaping.start(reapEveryMs);
    },
    async stop() {
      await Promise.all([looking.stop(), reaping.stop()]);
      await ticking;
    },
    tick,
    waiting: ({ limit = 100 } = {}) => adapter.perform(waitingEvents(source, limit)),
    replay: (id) => adapter.perform(replayEvent(sql, source, id)),
    reap: (limit = 1_000) => adapter.perform(reapEvents(sql, limit)),
  };
}

type Attempt<Payload> = (event: ProcessedEvent<Payload>, claimed: ClaimedEvent) => Promise<void>;

function atLeastOnce<Payload>(
  { store: adapter, process }: AtLeastOnce<Payload, unknown>,
  platform: Platform,
  leaseMs: number,
): Attempt<Payload> {
  const sql = sqlOf(adapter.dialect);
  return async (event, claimed) => {
    const extend = () => adapter.perform(extendEvent(sql, claimed, leaseMs));
    await underLease(platform, leaseMs, extend, (signal) => process(event, { attempt: claimed.attempt, signal }));
    // Where the lease was lost somebody else has it, and ends it.
    await adapter.perform(endEvent(sql, claimed, { kind: "done" }));
  };
}

/** No heartbeat: a transaction that is still open when its lease ends finds the other claim, and is undone. */
function inTransaction<Payload, Tx>(options: InTransaction<Payload, Tx>): Attempt<Payload> {
  const { store: adapter, processInTransaction } = options;
  const done = (claimed: ClaimedEvent) => endEvent(sqlOf(adapter.dialect), claimed, { kind: "done" });
  const checkHeld = (held: Held): void => {
    if (held === "lost") throw new Error("the lease was lost, so nothing of this attempt is kept");
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

async function eventOf<Payload>(adapter: Adapter<unknown>, claimed: ClaimedEvent): Promise<ProcessedEvent<Payload>> {
  const { source, id, type, subject, at } = claimed;
  const common = { source, id, type, subject, at, key: `${source}:${id}` };
  const value = JSON.parse(claimed.payload);
  if (claimed.kind === "raw") return { ...common, payload: value as Payload, changed: [], wasNew: false, carries: [] };
  const { changed, wasNew, newest } = value as LogicalRow;
  const carries = await adapter.perform(carriedEvents(source, id));
  return { ...common, payload: JSON.parse(newest) as Payload, changed, wasNew, carries };
}
