// The databases a user may have, for tests: a SQLite file and a real PostgreSQL, with the toolkit's tables in them. Time that has to pass
// is taken from the rows (`age`), for the database's clock is nobody's to move.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import type { Adapter } from "./adapter.ts";
import { sqliteAdapter } from "./better-sqlite3.ts";
import type { Dialect } from "./operation.ts";
import { pgAdapter } from "./pg.ts";
import { tablesSql } from "./tables.ts";

export interface TestDatabase {
  readonly dialect: Dialect;
  /** Each adapter has sessions of its own: two of them are two processes, as far as the database can tell. */
  readonly adapter: Adapter<any>;
  another(): Adapter<any>;
  /** A file's path, or an address for a pool; for processes of their own. */
  readonly where: string;
  /** Parameters as $1, $2, … each once. */
  rows(text: string, ...params: unknown[]): Promise<any[]>;
  /** Several statements, without parameters. */
  run(text: string): Promise<void>;
  /** Makes every row of a table older: subtracts from all its columns that end in _at or _until. */
  age(table: string, ms: number): Promise<void>;
}

/** Describes the same for each database. The server of PostgreSQL is started once per file, a schema of its own per opening. */
export function eachDatabase(tests: (open: () => Promise<TestDatabase>, dialect: Dialect) => void): void {
  describe("on SQLite", () => tests(openSqlite, "sqlite"));
  describe("on PostgreSQL", () => {
    let server: PostgresDatabase;
    let schemas = 0;
    beforeAll(async () => {
      server = await postgresDatabase();
    });
    afterAll(async () => {
      await server.remove();
    });
    tests(() => openPostgres(server.url, `toolkit${++schemas}`), "postgres");
  });
}

async function openSqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "idem-toolkit-"));
  const path = join(folder, "user.db");
  const opened: Database.Database[] = [];
  const open = (): Database.Database => {
    const db = new Database(path);
    db.pragma("journal_mode = WAL");
    db.pragma("busy_timeout = 5000");
    opened.push(db);
    return db;
  };
  onTestFinished(() => {
    for (const db of opened) db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const db = open();
  db.exec(tablesSql("sqlite"));
  const rows = async (text: string, ...params: unknown[]): Promise<any[]> => {
    const statement = db.prepare(text.replace(/\$\d+/g, "?"));
    if (statement.reader) return statement.all(...params);
    statement.run(...params);
    return [];
  };
  const timesOf = async (table: string): Promise<string[]> =>
    (await rows("select name from pragma_table_info($1)", table)).map(({ name }) => name as string).filter(isTime);
  return {
    dialect: "sqlite",
    adapter: sqliteAdapter(db),
    another: () => sqliteAdapter(open()),
    where: path,
    rows,
    run: async (text) => void db.exec(text),
    age: async (table, ms) => void db.exec(ageSql(table, await timesOf(table), ms)),
  };
}

async function openPostgres(url: string, schema: string): Promise<TestDatabase> {
  const pools: pg.Pool[] = [];
  const where = `${url}?options=-c%20search_path%3D${schema}`;
  const open = (): pg.Pool => {
    const pool = new pg.Pool({ connectionString: where, max: 10 });
    pool.on("error", () => {});
    pools.push(pool);
    return pool;
  };
  onTestFinished(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
  });
  const pool = open();
  await pool.query(`create schema ${schema}`);
  await pool.query(tablesSql("postgres"));
  const rows = async (text: string, ...params: unknown[]) => (await pool.query(text, params)).rows;
  const timesOf = async (table: string): Promise<string[]> =>
    (
      await rows(
        "select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2",
        schema,
        table,
      )
    )
      .map(({ name }) => name as string)
      .filter(isTime);
  return {
    dialect: "postgres",
    adapter: pgAdapter(pool),
    another: () => pgAdapter(open()),
    where,
    rows,
    run: async (text) => void (await pool.query(text)),
    age: async (table, ms) => void (await pool.query(ageSql(table, await timesOf(table), ms))),
  };
}

const isTime = (column: string): boolean => /_(at|until)$/.test(column);

const ageSql = (table: string, columns: readonly string[], ms: number): string =>
  `update ${table} set ${columns.map((column) => `${column} = ${column} - ${ms}`).join(", ")}`;
