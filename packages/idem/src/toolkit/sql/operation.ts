// Operations of the toolkit on a user's database, written as generators of statements.
//
// One text serves two worlds. On `better-sqlite3` an operation is driven in one go, so nothing of the app can come between two of its
// statements although both use one connection; on PostgreSQL every statement is awaited.
export type Dialect = "postgres" | "sqlite";

/** No booleans: SQLite has none. Bytes are Buffers or plain Uint8Arrays. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export interface Statement {
  /** Parameters are $1, $2, … in that order, each once; where a type cannot be inferred, `cast($1 as bigint)`, which both dialects read. */
  readonly text: string;
  readonly params: readonly SqlValue[];
  /**
   * It only reads. On SQLite, what comes before an operation's first write is then answered without waiting for the one writer; as on
   * PostgreSQL, somebody else may have written until the write, which has to guard what it relies on.
   */
  readonly isRead?: true;
}

/** SQLite's drivers count by question marks. Each parameter stands once and in order, so only the sign differs. */
export const withQuestionMarks = (text: string): string => text.replace(/\$\d+/g, "?");

export type Row = Readonly<Record<string, unknown>>;

export interface Answered {
  readonly rows: readonly Row[];
  /** Rows written, for statements that return none. */
  readonly count: number;
}

/** `const { rows } = yield { text, params }` */
export type Operation<T> = Generator<Statement, T, Answered>;

/** Where the dialects differ in the toolkit's texts. Types that only the server knows (void, pg_lsn) are cast to text: Prisma reads no others. */
export interface Sql {
  readonly dialect: Dialect;
  /** The database's clock, in milliseconds: one value for the whole of a statement. It alone decides leases, windows and ticks. */
  readonly now: string;
  /** Behind a select of rows that several take from at once; SQLite has one writer and needs none. */
  readonly skipLocked: string;
  /**
   * In the columns of a select by which something is answered from a row that is there: the commit then waits for a synchronous standby as
   * the one that wrote the row should have, and nothing that only the primary knows is handed out (docs/failover.md#asynchronous-and-synchronous-replication).
   */
  readonly stand: string;
}

const byDialect: Readonly<Record<Dialect, Sql>> = {
  postgres: {
    dialect: "postgres",
    // Not now(): that is the instant at which the transaction began.
    now: "cast(extract(epoch from statement_timestamp()) * 1000 as bigint)",
    skipLocked: "for update skip locked",
    stand: `case when current_setting('synchronous_standby_names') <> '' and pg_current_xact_id_if_assigned() is null
                 then cast(pg_logical_emit_message(true, 'idem', '') as text) end`,
  },
  sqlite: {
    dialect: "sqlite",
    now: "cast((julianday('now') - 2440587.5) * 86400000 as integer)",
    skipLocked: "",
    stand: "null",
  },
};

export const sqlOf = (dialect: Dialect): Sql => byDialect[dialect];

/** PostgreSQL's drivers give a bigint as text. */
export const numberOf = (value: unknown): number => Number(value);

export const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

/** For a driver that answers at once. */
export function drive<T>(
  operation: Operation<T>,
  run: (statement: Statement) => Answered,
  from: IteratorResult<Statement, T> = operation.next(),
): T {
  let step = from;
  while (!step.done) step = stepOn(operation, run, step.value);
  return step.value;
}

/** Up to the first statement that writes, or to the end; `drive` goes on from there. */
export function driveReads<T>(
  operation: Operation<T>,
  run: (statement: Statement) => Answered,
): IteratorResult<Statement, T> {
  let step = operation.next();
  while (!step.done && step.value.isRead === true) step = stepOn(operation, run, step.value);
  return step;
}

function stepOn<T>(
  operation: Operation<T>,
  run: (statement: Statement) => Answered,
  statement: Statement,
): IteratorResult<Statement, T> {
  let answered: Answered;
  try {
    answered = run(statement);
  } catch (error) {
    // The operation may know what to do about it.
    return operation.throw(error);
  }
  return operation.next(answered);
}
