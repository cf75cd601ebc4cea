// Through postgres.js: `sql.begin` opens, and the `sql` it hands out is the transaction. The outer one silently is not.
import { errors } from "../../model/errors.ts";
import type { Adapter, SqlTx } from "./adapter.ts";
import { openedByDriver } from "./opened-by-driver.ts";
import type { Row } from "./operation.ts";
import { sqlTx } from "./sql-tx.ts";

/** The part of a transaction's `sql` that is used. */
export interface PostgresJsQueries {
  unsafe(text: string, params?: never[]): PromiseLike<readonly Row[] & { readonly count: number | null }>;
}

/** The part of `postgres(…)` that is used. */
export interface PostgresJs extends PostgresJsQueries {
  readonly options: { readonly transform: Readonly<Record<"column" | "value" | "row", { readonly from?: unknown }>> };
  begin(...args: never[]): unknown;
}

/** Handed out by its `begin`. */
export type PostgresJsTx<Sql extends PostgresJs> =
  Parameters<Sql["begin"]> extends [string, (tx: infer Tx) => unknown] ? Tx & PostgresJsQueries : PostgresJsQueries;

/**
 * The user's PostgreSQL, through postgres.js.
 *
 * ```ts
 * const adapter = postgresJsAdapter(postgres(connectionString));
 * ```
 */
export function postgresJsAdapter<Sql extends PostgresJs>(sql: Sql): Adapter<PostgresJsTx<Sql>> {
  const { column, value, row } = sql.options.transform;
  if ([column, value, row].some((each) => each.from)) {
    const why = "it renames or changes what the toolkit reads of its own tables; hand over a postgres(…) without one";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "postgresJsAdapter", option: "transform", why });
  }
  const wrap = (on: PostgresJsQueries): SqlTx =>
    sqlTx({
      dialect: "postgres",
      run: async (text, params) => {
        const rows = await on.unsafe(text, [...params] as never[]);
        return { rows, count: rows.count ?? 0 };
      },
    });
  return {
    dialect: "postgres",
    bodies: "async",
    perform: (operation) => wrap(sql).perform(operation),
    wrap,
    transaction: (body, options) =>
      openedByDriver(
        { open: (inside) => begin(sql, inside), run: (tx, text) => wrap(tx).query(text, []) },
        body,
        options,
      ),
  };
}

async function begin<Tx, T>(sql: PostgresJs, inside: (tx: Tx) => Promise<T>): Promise<T> {
  const opener = sql as { begin(options: string, body: (tx: Tx) => Promise<{ value: T }>): Promise<{ value: T }> };
  // In an object: what a body returns as a list, postgres.js would take for queries and await.
  const ended = await opener.begin("isolation level read committed", async (tx) => ({ value: await inside(tx) }));
  return ended.value;
}
