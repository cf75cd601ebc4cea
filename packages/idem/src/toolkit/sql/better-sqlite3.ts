// biome-ignore-all lint/suspicious/noTsIgnore: it is meant for the declarations, where there is an error only without the types.

// Through `better-sqlite3`: one connection that answers at once. A body that awaits would go on outside of its transaction, so none may.
import { errors } from "../../model/errors.ts";
import type { SyncAdapter, TransactionOptions } from "./adapter.ts";
import { type Answered, drive, driveReads, type SqlValue, type Statement, withQuestionMarks } from "./operation.ts";

/** Its types need not be installed:
 * @ts-ignore */
type Database = import("better-sqlite3").Database;

/**
 * The user's SQLite, through `better-sqlite3`. The file should be in WAL mode with `synchronous = FULL`.
 *
 * ```ts
 * const adapter = sqliteAdapter(new Database("shop.db"));
 * ```
 */
export const sqliteAdapter = (db: Database): SyncAdapter<Database> =>
  // Immediate: a reader that turns writer half-way is refused when somebody else wrote meanwhile.
  syncAdapter(db, (body) => db.transaction(() => body(db)).immediate());

/** For whatever opens its transactions on a connection of `better-sqlite3`. */
export function syncAdapter<Tx>(db: Database, open: <T>(body: (tx: Tx) => T) => T): SyncAdapter<Tx> {
  const run = runOn(db);
  const whole = <T>(body: (tx: Tx) => T, options?: TransactionOptions): T => {
    if (db.inTransaction) throw errors.TRANSACTION_OPEN({});
    return withLockTimeout(db, options?.lockTimeoutMs, () =>
      open((tx) => {
        const value = body(tx);
        // Few failures end the whole (`on conflict rollback`, a full disk); what came after them was committed statement by statement.
        if (!db.inTransaction) throw errors.TRANSACTION_ABORTED({ why: "the database undid it" });
        return value;
      }),
    );
  };
  const transactionSync = <T>(body: (tx: Tx) => T, options?: TransactionOptions): T => {
    if (isAsync(body)) throw errors.TRANSACTION_ASYNC({ call: "transaction" });
    return whole((tx) => {
      const value = body(tx);
      // Undone by what is thrown; what the body does after its first await, it does outside of any transaction.
      if (isThenable(value)) throw errors.TRANSACTION_ASYNC({ call: "transaction" });
      return value;
    }, options);
  };
  return {
    dialect: "sqlite",
    bodies: "sync",
    perform: async (operation) => {
      if (db.inTransaction) throw errors.TRANSACTION_OPEN({});
      const begun = driveReads(operation, run);
      return begun.done ? begun.value : whole(() => drive(operation, run, begun));
    },
    wrap: () => ({
      dialect: "sqlite",
      perform: async (operation) => drive(operation, run),
      query: async (text, values) => run({ text, params: values as SqlValue[] }),
    }),
    transaction: async <T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions) =>
      transactionSync(body, options) as Awaited<T>,
    transactionSync,
    performSync: (_tx, operation) => drive(operation, run),
  };
}

interface Prepared {
  readonly reader: boolean;
  all(...params: unknown[]): unknown[];
  run(...params: unknown[]): { readonly changes: number };
}

/** The toolkit's texts are few, and preparing one takes as long as running it. */
function runOn(db: Database): (statement: Statement) => Answered {
  const prepared = new Map<string, Prepared>();
  return ({ text, params }) => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = db.prepare(withQuestionMarks(text)) as Prepared;
      prepared.set(text, statement);
    }
    if (statement.reader) return { rows: statement.all(...params) as Record<string, unknown>[], count: 0 };
    return { rows: [], count: statement.run(...params).changes };
  };
}

/** A wait for another process's writer blocks this thread, so it matters more here than elsewhere. */
function withLockTimeout<T>(db: Database, lockTimeoutMs: number | undefined, body: () => T): T {
  if (lockTimeoutMs === undefined) return body();
  const before = db.pragma("busy_timeout", { simple: true });
  db.pragma(`busy_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`);
  try {
    return body();
  } finally {
    db.pragma(`busy_timeout = ${before}`);
  }
}

const isAsync = (body: unknown): boolean => Object.prototype.toString.call(body) === "[object AsyncFunction]";

const isThenable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
