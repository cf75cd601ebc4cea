// The drivers that have an adapter, each over a real database, for the tests that run over all of them.

import Database from "better-sqlite3";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle as drizzleSqlite } from "drizzle-orm/better-sqlite3";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { Kysely, sql as kyselySql, PostgresDialect, SqliteDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import type { OpenedAdapter } from "./adapter.suite.ts";
import { sqliteAdapter } from "./better-sqlite3.ts";
import { drizzleAdapter } from "./drizzle.ts";
import { kyselyAdapter } from "./kysely.ts";
import { pgAdapter } from "./pg.ts";
import { postgresJsAdapter } from "./postgres-js.ts";

/** To be called when nothing is asked any more. */
export type Closing = (close: () => unknown) => void;

/** An adapter over the database at an address or in a file. */
export type OpenDriver = (where: string, closing: Closing) => OpenedAdapter;

function poolAt(url: string, closing: Closing): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  // Drivers over a pool do not listen to the session they have; one that is lost would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  closing(() => pool.end());
  return pool;
}

function postgresJsAt(url: string, closing: Closing): postgres.Sql {
  const { searchParams } = new URL(url);
  const path = /search_path=(\w+)/.exec(searchParams.get("options") ?? "")?.[1];
  const sql = postgres(url.replace(/\?.*/, ""), {
    max: 4,
    onnotice: () => {},
    connection: path === undefined ? {} : { search_path: path },
  });
  closing(() => sql.end({ timeout: 0 }));
  return sql;
}

function fileAt(path: string, closing: Closing): Database.Database {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  closing(() => {
    db.close();
  });
  return db;
}

export const postgresDrivers: Readonly<Record<string, OpenDriver>> = {
  pg: (url, closing) => ({ adapter: pgAdapter(poolAt(url, closing)), native: (tx, text) => tx.query(text) }),
  "pg, prepared": (url, closing) => ({
    adapter: pgAdapter(poolAt(url, closing), { prepare: true }),
    native: (tx, text) => tx.query(text),
  }),
  "postgres.js": (url, closing) => ({
    adapter: postgresJsAdapter(postgresJsAt(url, closing)),
    native: (tx, text) => tx.unsafe(text),
  }),
  "Kysely over pg": (url, closing) => ({
    adapter: kyselyAdapter(new Kysely<any>({ dialect: new PostgresDialect({ pool: poolAt(url, closing) }) }), {
      dialect: "postgres",
    }),
    native: (tx, text) => kyselySql.raw(text).execute(tx),
  }),
  "Drizzle over pg": (url, closing) => ({
    adapter: drizzleAdapter(drizzlePg(poolAt(url, closing)), { dialect: "postgres", sql: drizzleSql }),
    native: (tx, text) => tx.execute(drizzleSql.raw(text)),
  }),
  "Drizzle over postgres.js": (url, closing) => ({
    adapter: drizzleAdapter(drizzlePostgresJs(postgresJsAt(url, closing)), { dialect: "postgres", sql: drizzleSql }),
    native: (tx, text) => tx.execute(drizzleSql.raw(text)),
  }),
};

export const sqliteDrivers: Readonly<Record<string, OpenDriver>> = {
  "better-sqlite3": (path, closing) => ({
    adapter: sqliteAdapter(fileAt(path, closing)),
    native: (tx, text) => tx.exec(text),
  }),
  "Kysely over better-sqlite3": (path, closing) => ({
    adapter: kyselyAdapter(new Kysely<any>({ dialect: new SqliteDialect({ database: fileAt(path, closing) }) }), {
      dialect: "sqlite",
    }),
    native: (tx, text) => kyselySql.raw(text).execute(tx),
  }),
  "Drizzle over better-sqlite3": (path, closing) => ({
    adapter: drizzleAdapter(drizzleSqlite(fileAt(path, closing)), { dialect: "sqlite" }),
    native: (tx, text) => tx.run(drizzleSql.raw(text)),
  }),
};
