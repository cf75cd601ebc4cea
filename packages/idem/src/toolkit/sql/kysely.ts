// Through Kysely, over whatever driver it has. Its plugins are left out of the toolkit's texts: one that renames columns would rename ours.
import type { Adapter, SqlTx, TransactionOptions } from "./adapter.ts";
import { openedByDriver } from "./opened-by-driver.ts";
import type { Dialect, Row } from "./operation.ts";
import { sqlTx } from "./sql-tx.ts";
import { asWriter } from "./sqlite-writer.ts";

/** Kysely's compiled query, which is plain data. */
export interface KyselyText {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: { readonly kind: "RawNode"; readonly sqlFragments: string[]; readonly parameters: [] };
  readonly queryId: { readonly queryId: string };
}

/** The part of a `Transaction` that is used. */
export interface KyselyQueries {
  withoutPlugins(): {
    executeQuery(query: KyselyText): Promise<{ readonly rows: unknown[]; readonly numAffectedRows?: bigint }>;
  };
}

interface Opener<Tx> {
  execute<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
}

/** The part of a `Kysely` that is used. */
export interface KyselyDatabase<Tx> extends KyselyQueries {
  transaction(): Opener<Tx> & { setIsolationLevel(level: "read committed"): Opener<Tx> };
}

/**
 * The user's database, through Kysely, which cannot be asked for its dialect.
 *
 * ```ts
 * const adapter = kyselyAdapter(new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) }), { dialect: "postgres" });
 * ```
 */
export function kyselyAdapter<Tx extends KyselyQueries>(
  db: KyselyDatabase<Tx>,
  { dialect }: { readonly dialect: Dialect },
): Adapter<Tx> {
  const wrap = (on: KyselyQueries): SqlTx => {
    const bare = on.withoutPlugins();
    const run = async (sql: string, parameters: readonly unknown[]) => {
      const query: KyselyText["query"] = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
      const answered = await bare.executeQuery({ sql, parameters, query, queryId: { queryId: "idem" } });
      return { rows: answered.rows as Row[], count: Number(answered.numAffectedRows ?? 0) };
    };
    return sqlTx({ dialect, run });
  };
  const run = (tx: Tx, text: string) => wrap(tx).query(text, []);
  const inPostgres = <T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions): Promise<T> => {
    const opener = db.transaction().setIsolationLevel("read committed");
    return openedByDriver({ open: (inside) => opener.execute(inside), run }, body, options);
  };
  const inSqlite = <T>(body: (tx: Tx) => T | Promise<T>, options?: TransactionOptions): Promise<T> => {
    const opener = db.transaction();
    return openedByDriver<Tx, T>({ open: (inside) => opener.execute(inside), run }, (tx) =>
      asWriter(
        (text) => run(tx, text),
        () => body(tx),
        options,
      ),
    );
  };
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
