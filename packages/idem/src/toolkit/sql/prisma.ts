// Through Prisma, on PostgreSQL and on SQLite: texts by `$queryRawUnsafe` and `$executeRawUnsafe`, transactions by `$transaction(async (tx) => …)`.
import { errors } from "../../model/errors.ts";
import type { Adapter, SqlTx, TransactionOptions } from "./adapter.ts";
import { driverErrorOf } from "./faults.ts";
import { openedByDriver } from "./opened-by-driver.ts";
import type { Answered, Dialect, Row } from "./operation.ts";
import { sqlTx } from "./sql-tx.ts";
import { asWriter } from "./sqlite-writer.ts";

/** The part of a transaction that is used. */
export interface PrismaQueries {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): PromiseLike<T>;
  $executeRawUnsafe(text: string, ...values: unknown[]): PromiseLike<number>;
}

/** The part of a `PrismaClient` that is used. */
export interface PrismaDatabase<Tx> extends PrismaQueries {
  $transaction<T>(body: (tx: Tx) => Promise<T>, options?: object): Promise<T>;
}

export interface PrismaAdapterOptions {
  readonly dialect: Dialect;
  /** Prisma undoes a transaction that lasts longer, in milliseconds; Prisma's own default is 5,000. */
  readonly timeout?: number;
  /** Longest wait for a connection, in milliseconds; Prisma's own default is 2,000. */
  readonly maxWait?: number;
}

/**
 * The user's database, through Prisma, which cannot be asked for its dialect.
 *
 * ```ts
 * const adapter = prismaAdapter(new PrismaClient({ adapter: new PrismaPg({ connectionString }) }), { dialect: "postgres" });
 * ```
 */
export function prismaAdapter<Tx extends PrismaQueries>(
  db: PrismaDatabase<Tx>,
  { dialect, timeout, maxWait }: PrismaAdapterOptions,
): Adapter<Tx> {
  const limits = {
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxWait === undefined ? {} : { maxWait }),
    // SQLite has one level, and refuses to be asked for another.
    ...(dialect === "postgres" ? { isolationLevel: "ReadCommitted" } : {}),
  };
  const wrap = (on: PrismaQueries): SqlTx => sqlTx({ dialect, run: (text, params) => ask(on, text, params) });
  const run = (tx: Tx, text: string) => ask(tx, text, []);
  const open = async <T>(inside: (tx: Tx) => Promise<T>): Promise<T> => {
    try {
      return await db.$transaction(inside, limits);
    } catch (error) {
      throw driverErrorIn(error);
    }
  };
  const inPostgres = <T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions): Promise<T> =>
    openedByDriver({ open, run }, body, options);
  const inSqlite = <T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions): Promise<T> =>
    openedByDriver<Tx, T>({ open, run }, (tx) =>
      asWriter(
        (text) => run(tx, text),
        () => body(tx),
        options,
      ),
    );
  const transaction = dialect === "postgres" ? inPostgres : inSqlite;
  return {
    dialect,
    bodies: "async",
    perform: (operation) =>
      dialect === "postgres" ? wrap(db).perform(operation) : transaction((tx) => wrap(tx).perform(operation)),
    wrap,
    transaction,
  };
}

/** One call gives rows and the other a count; which is meant, the text says. */
const givesRows = /^\s*(?:select|with|values|pragma|show|explain)\b|\breturning\b/i;

async function ask(on: PrismaQueries, text: string, params: readonly unknown[]): Promise<Answered> {
  try {
    if (!givesRows.test(text)) return { rows: [], count: await on.$executeRawUnsafe(text, ...params) };
    const rows = await on.$queryRawUnsafe<Row[]>(text, ...params);
    return { rows: rows.map(plainRow), count: rows.length };
  } catch (error) {
    throw driverErrorIn(error);
  }
}

/** Prisma's own errors repeat the call; the driver's, with its code, stands inside of them. */
function driverErrorIn(error: unknown): unknown {
  const driver = driverErrorOf(error);
  const { code } = driver as { code?: unknown };
  // It was undone for its length, or because nothing more can succeed in it, before it could be committed.
  if (code === "P2028") return errors.TRANSACTION_ABORTED({ why: "Prisma ended it; its timeout may be too short" });
  return driver;
}

/** Prisma gives whole numbers as bigint, where other drivers give numbers. */
const plainRow = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
    ]),
  );
