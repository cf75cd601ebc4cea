// The toolkit's access to a database of the user's, through the driver they have: one opener of transactions and one way to run a text.
import type { UserTransaction } from "../../store/outbox.ts";
import type { Dialect, Operation } from "./operation.ts";

/** A transaction that is open: the user's own, or one that `transaction` opened. `idem.send(event, { tx })` takes it as it is. */
export interface SqlTx extends UserTransaction {
  readonly dialect: Dialect;
  perform<T>(operation: Operation<T>): Promise<T>;
}

export interface TransactionOptions {
  /** A statement waits this long for somebody else's lock; after that `sqlFaultOf` says `lock-timeout`. */
  readonly lockTimeoutMs?: number;
}

/** `Tx` is what the driver calls a transaction, and what user code receives. */
export interface Adapter<Tx> {
  readonly dialect: Dialect;
  /** `sync`: a transaction's body must not be async, for the driver would run the part after its first await outside of it. */
  readonly bodies: "async" | "sync";
  /**
   * An operation by itself, outside of any transaction of the user's. On PostgreSQL each of its statements is a commit of its own; on SQLite
   * the operation is one, for nothing else may come between.
   */
  perform<T>(operation: Operation<T>): Promise<T>;
  /**
   * Commits what the body wrote when it returns, undoes it when it throws; answers only once the commit is known. At read committed.
   * Throws COMMIT_UNKNOWN when the session was lost while it committed, TRANSACTION_ABORTED when a statement that failed ended the transaction
   * and the body went on: on PostgreSQL every one does, on SQLite a failed statement is undone by itself and only few end the whole.
   * Where `bodies` is `sync`, an async one is refused with TRANSACTION_ASYNC before anything is written.
   */
  transaction<T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions): Promise<T>;
  wrap(tx: Tx): SqlTx;
}

/** A driver that answers at once (`better-sqlite3`): operations can be part of a body that never awaits. */
export interface SyncAdapter<Tx> extends Adapter<Tx> {
  readonly bodies: "sync";
  transactionSync<T>(body: (tx: Tx) => T, options?: TransactionOptions): T;
  performSync<T>(tx: Tx, operation: Operation<T>): T;
}

/** An operation as one transaction, whichever database it is: on SQLite it is one by itself. */
export const performWhole = <T>(adapter: Adapter<unknown>, operation: () => Operation<T>): Promise<T> =>
  adapter.dialect === "sqlite"
    ? adapter.perform(operation())
    : adapter.transaction((tx: unknown) => adapter.wrap(tx).perform(operation()));
