/**
 * Tools beside an Idempotency-Key, in your own database: outbox, inbox, sent-log, locks with a check, one row for what is unique, and
 * ticks of schedulers that are not Idem's. The tables are printed by `idem sql`.
 *
 * ```ts
 * const adapter = pgAdapter(new pg.Pool({ connectionString })); // from "idem/sql"
 * const outbox = createOutbox(adapter);
 * await adapter.transaction(async (tx) => {
 *   await tx.query("insert into orders (id) values ($1)", [id]);
 *   await outbox.send(tx, { name: "order/placed", data: { id } });
 * });
 * outbox.relayTo(idem);
 * ```
 */

export type { Reconciled } from "./execute/attempt-effect.ts";
export type { Columns, ColumnValue } from "./toolkit/columns.ts";
export { type CronTick, type CronTickOptions, cronTick } from "./toolkit/cron-tick/cron-tick.ts";
export type { Tick, TickAnswer, TickTask } from "./toolkit/cron-tick/run-tick.ts";
export type { UnfinishedTick } from "./toolkit/cron-tick/tick-claims.ts";
export {
  type FindOrCreate,
  type FoundOrCreated,
  findOrCreate,
  findOrCreateSync,
} from "./toolkit/find-or-create.ts";
export { type FindOrCreateRemote, findOrCreateRemote, type RemoteCreation } from "./toolkit/find-or-create-remote.ts";
export { type InboxMessage, inbox, type Processed } from "./toolkit/inbox.ts";
export {
  createOutbox,
  type Dispatching,
  type DispatchOptions,
  type OrderedOutboxOptions,
  type OrderedPutOptions,
  type Outbox,
  type OutboxOptions,
  type PutOptions,
  type RelayOptions,
  type SyncOutbox,
} from "./toolkit/outbox/create-outbox.ts";
export type { MessageContext, MessageTask } from "./toolkit/outbox/dispatcher.ts";
export type { OutboxEvent, OutboxMessage } from "./toolkit/outbox/message.ts";
export type { DeadMessage } from "./toolkit/outbox/messages.ts";
export type { PutMessage } from "./toolkit/outbox/put-message.ts";
export type { EventDestination } from "./toolkit/outbox/relay-to-idem.ts";
export {
  createSentLog,
  type InDoubt,
  type OnceInput,
  type OnUnknown,
  type SentLog,
  type SentLogOptions,
} from "./toolkit/sent-log/create-sent-log.ts";
export type { SentEntry } from "./toolkit/sent-log/entry.ts";
export { Refused, type SentResponse } from "./toolkit/sent-log/receipt.ts";
export type { OnceAnswer, SendContext, SendTask } from "./toolkit/sent-log/send-once.ts";
export { type SqlCalls, sqlCalls } from "./toolkit/sql-calls.ts";
export { type Moved, type Transition, transition, transitionSync } from "./toolkit/transition.ts";
export { type Upsert, type Upserted, upsert, upsertSync } from "./toolkit/upsert.ts";
export { withTransactionLock } from "./toolkit/with-lock/transaction-lock.ts";
export { type LockContext, type Locked, type LockOptions, reapLocks, withLock } from "./toolkit/with-lock/with-lock.ts";
