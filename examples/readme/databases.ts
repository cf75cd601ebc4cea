// docs/databases.md

// #region open
import { ensureTables, pgAdapter } from "idem/sql";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const adapter = pgAdapter(pool);

await ensureTables(adapter); // or, as a migration: npx idem sql | psql "$DATABASE_URL"
// #endregion

// #region transaction
async function placeOrder(item: string): Promise<string> {
  return adapter.transaction(
    async (tx) => {
      const placed = await tx.query("insert into orders (item) values ($1) returning id", [item]);
      return placed.rows[0].id as string;
    },
    { lockTimeoutMs: 2000 },
  );
}

// #endregion

// #region drivers
import Database from "better-sqlite3";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzleAdapter, kyselyAdapter, postgresJsAdapter, sqliteAdapter } from "idem/sql";
import { Kysely, PostgresDialect } from "kysely";
import postgres from "postgres";

interface Shop {
  orders: { item: string };
}

const throughSqlite = (path: string) => sqliteAdapter(new Database(path));
const throughPostgresJs = (url: string) => postgresJsAdapter(postgres(url));
const throughKysely = () =>
  kyselyAdapter(new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) }), { dialect: "postgres" });
const throughDrizzle = () => drizzleAdapter(drizzle(pool), { dialect: "postgres", sql: drizzleSql });
// #endregion

// #region listen
pool.on("error", (error) => console.error("an idle session was lost:", error.message));
pool.on("connect", (client) => client.on("error", () => {})); // what it was doing fails by itself

// #endregion

// #region own
import { type Row, sqlTx } from "idem/sql";

/** Any driver: its call that runs a text in a transaction that you opened and will end. */
interface MyTransaction {
  execute(text: string, params: readonly unknown[]): Promise<{ rows: Row[]; affected: number }>;
}

const mine = (tx: MyTransaction) =>
  sqlTx({
    dialect: "postgres",
    run: async (text, params) => {
      const { rows, affected } = await tx.execute(text, params);
      return { rows, count: affected };
    },
  });

// #endregion

export { mine, placeOrder, throughDrizzle, throughKysely, throughPostgresJs, throughSqlite };
