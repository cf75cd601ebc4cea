// Through Drizzle. On PostgreSQL (over `pg` or postgres.js) it takes no text with parameters, so one is made of pieces with Drizzle's own `sql`;
// on SQLite (over `better-sqlite3`) the connection under it is in the same transaction, and is asked directly.
import { errors } from "../../model/errors.ts";
import type { Adapter, SqlTx, SyncAdapter } from "./adapter.ts";
import { syncAdapter } from "./better-sqlite3.ts";
import { driverErrorOf } from "./faults.ts";
import { openedByDriver } from "./opened-by-driver.ts";
import type { Answered, Row } from "./operation.ts";
import { sqlTx } from "./sql-tx.ts";

/** The part of drizzle-orm's `sql` that is used. */
export interface DrizzleSql {
  (texts: TemplateStringsArray, ...params: unknown[]): unknown;
  raw(text: string): unknown;
  join(chunks: unknown[]): unknown;
}

/** The part of a transaction on PostgreSQL that is used. */
export interface DrizzleQueries {
  execute(query: never): PromiseLike<unknown>;
}

export interface DrizzlePostgres<Tx> extends DrizzleQueries {
  transaction<T>(body: (tx: Tx) => Promise<T>, config?: { isolationLevel?: "read committed" }): Promise<T>;
}

export interface DrizzleSqlite<Tx> {
  readonly $client: Parameters<typeof syncAdapter>[0];
  transaction<T>(body: (tx: Tx) => T, config?: { behavior?: "immediate" }): T;
}

/**
 * The user's database, through Drizzle.
 *
 * ```ts
 * import { sql } from "drizzle-orm";
 * const adapter = drizzleAdapter(drizzle(pool), { dialect: "postgres", sql });
 * const local = drizzleAdapter(drizzle("shop.db"), { dialect: "sqlite" });
 * ```
 */
export function drizzleAdapter<Tx>(db: DrizzleSqlite<Tx>, options: { readonly dialect: "sqlite" }): SyncAdapter<Tx>;
export function drizzleAdapter<Tx extends DrizzleQueries>(
  db: DrizzlePostgres<Tx>,
  options: { readonly dialect: "postgres"; readonly sql: DrizzleSql },
): Adapter<Tx>;
export function drizzleAdapter<Tx extends DrizzleQueries>(
  db: DrizzlePostgres<Tx> | DrizzleSqlite<Tx>,
  options: { readonly dialect: "sqlite" } | { readonly dialect: "postgres"; readonly sql: DrizzleSql },
): Adapter<Tx> {
  return options.dialect === "sqlite"
    ? sqlite(db as DrizzleSqlite<Tx>)
    : postgres(db as DrizzlePostgres<Tx>, options.sql);
}

function sqlite<Tx>(db: DrizzleSqlite<Tx>): SyncAdapter<Tx> {
  if (typeof db.$client?.prepare !== "function" || typeof db.$client.inTransaction !== "boolean") {
    const why = "it is not one over better-sqlite3, the only driver of SQLite that is known here";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "drizzleAdapter", option: "db", why });
  }
  return syncAdapter(db.$client, (body) => db.transaction(body, { behavior: "immediate" }));
}

function postgres<Tx extends DrizzleQueries>(db: DrizzlePostgres<Tx>, sql: DrizzleSql): Adapter<Tx> {
  const wrap = (on: DrizzleQueries): SqlTx =>
    sqlTx({
      dialect: "postgres",
      run: async (text, params) => {
        const [first, ...others] = text.split(/\$\d+/).map((part) => sql.raw(part));
        const pieces = others.flatMap((part, i) => [sql`${params[i]}`, part]);
        try {
          return answeredBy(await on.execute(sql.join([first, ...pieces]) as never));
        } catch (error) {
          throw driverErrorOf(error);
        }
      },
    });
  return {
    dialect: "postgres",
    bodies: "async",
    perform: (operation) => wrap(db).perform(operation),
    wrap,
    transaction: (body, options) =>
      openedByDriver(
        {
          open: (inside) => db.transaction(inside, { isolationLevel: "read committed" }),
          run: (tx, text) => wrap(tx).query(text, []),
        },
        body,
        options,
      ),
  };
}

/** The result is the driver's: of `pg` an object, of postgres.js a list that knows its count. */
function answeredBy(result: unknown): Answered {
  if (Array.isArray(result)) return { rows: result as Row[], count: (result as { count?: number }).count ?? 0 };
  const { rows, rowCount } = result as { rows: Row[]; rowCount: number | null };
  return { rows, count: rowCount ?? 0 };
}
