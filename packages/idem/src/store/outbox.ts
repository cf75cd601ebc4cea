// Events that were sent inside a transaction of the user's: there when it is committed, gone when it is not.
//
//   the user's transaction                     any node that executes
//   their writes, put(tx, events) ──commit──▶ take ──▶ ingest, under the ids made for put ──▶ done
//                                               └─ can never be ingested ─▶ park, for a person
//
// An event that is ingested twice counts once, because of its id. So nothing is locked on the way: a lease only makes it unlikely that two
// nodes take the same, and a node that dies between ingest and done leaves an event that is answered as it was decided.
import type { NewEvent } from "./ingest.ts";

/**
 * A transaction of the user's. A client of `pg` is one as it is; for others a few lines make one (docs/transactions.md).
 * Texts name their parameters $1, $2, … in that order, each once, and hold no "?"; values are strings.
 */
export interface UserTransaction {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

export interface TakenEntry {
  readonly id: string;
  /** Null when what is kept cannot be read. */
  readonly event: NewEvent | null;
  /** Number of times it was taken, this one included. */
  readonly tries: number;
}

export interface StoreOutbox {
  /**
   * Writes the events into the user's transaction. Promise: they exist exactly if it commits, and nobody waits for it meanwhile.
   * Throws TRANSACTION_UNUSABLE, having written nothing, where it is no transaction of this store's database.
   */
  put(tx: UserTransaction, env: string, events: readonly NewEvent[]): Promise<void>;
  /** The oldest that nobody has at hand. Not done, they can be taken again after `leaseMs`, which doubles with each time. */
  take(input: { readonly env: string; readonly max: number; readonly leaseMs: number }): Promise<readonly TakenEntry[]>;
  /** They are ingested. Repeat: gone stays gone. */
  done(env: string, ids: readonly string[]): Promise<void>;
  /** It is kept, with the reason, and not taken any more. */
  park(env: string, id: string, why: string): Promise<void>;
}
