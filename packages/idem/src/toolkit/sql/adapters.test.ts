import Database from "better-sqlite3";
import { sql as drizzleSql } from "drizzle-orm";
import type { drizzle as drizzleSqlite } from "drizzle-orm/better-sqlite3";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { say } from "./adapter.suite.ts";
import { postgresDrivers, sqliteDrivers } from "./adapters.suite.ts";
import { sqliteAdapter } from "./better-sqlite3.ts";
import { postgresDriverTests, sqliteDriverTests, through } from "./driver-tests.suite.ts";
import { drizzleAdapter } from "./drizzle.ts";
import { sqlFaultOf } from "./faults.ts";
import { kyselyAdapter } from "./kysely.ts";
import type { Operation } from "./operation.ts";
import { pgAdapter } from "./pg.ts";
import { postgresJsAdapter } from "./postgres-js.ts";

const items = pgTable("items", { name: text("name").primaryKey() });

function* once(text: string): Operation<unknown> {
  return (yield say(text)).rows;
}

sqliteDriverTests(sqliteDrivers);

test("what would become part of a transaction somebody else has open on the connection is refused", async () => {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  db.exec("create table items (name text)");
  const adapter = sqliteAdapter(db);
  const insert = () => adapter.perform(once("insert into items (name) values ('a')"));
  db.exec("begin");
  await expect(insert()).rejects.toMatchObject({ code: "TRANSACTION_OPEN" });
  await expect(adapter.transaction(() => 1)).rejects.toMatchObject({ code: "TRANSACTION_OPEN" });
  // Handed over, it is meant to be.
  await adapter.wrap(db).perform(once("insert into items (name) values ('b')"));
  db.exec("commit");
  expect(db.prepare("select name from items").all()).toEqual([{ name: "b" }]);
});

postgresDriverTests(postgresDrivers, (server) => {
  test("a plugin of Kysely's that renames columns does not rename the toolkit's", async () => {
    const pool = new pg.Pool({ connectionString: through(server.url(), await server.schema()), max: 1 });
    onTestFinished(() => pool.end());
    const db = new Kysely<any>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
    const adapter = kyselyAdapter(db, { dialect: "postgres" });
    const { rows } = await adapter.transaction((tx) => adapter.wrap(tx).query("select 1 as ends_at", []));
    expect(rows).toEqual([{ ends_at: 1 }]);
  });

  test("a postgres.js that renames columns is refused before it is used", async () => {
    const sql = postgres(server.url(), { transform: postgres.camel });
    onTestFinished(() => sql.end({ timeout: 0 }));
    expect(() => postgresJsAdapter(sql)).toThrow(expect.objectContaining({ code: "TOOLKIT_OPTION_INVALID" }));
  });

  test("a session that is lost while a body does something else is the failure of that body, and not of the process", async () => {
    const pool = new pg.Pool({ connectionString: server.url(), max: 1 });
    onTestFinished(() => pool.end());
    const work = pgAdapter(pool).transaction(async (tx) => {
      const { rows } = await tx.query("select pg_backend_pid() as pid");
      const isOver = new Promise<void>((resolve) => tx.once("end", () => resolve()));
      await server.admin().query("select pg_terminate_backend($1)", [rows[0].pid]);
      await isOver;
      await tx.query("select 1");
    });
    expect(await work.then(() => "none", sqlFaultOf)).toBe("unknown");
    expect((await pool.query("select 1 as still")).rows).toEqual([{ still: 1 }]);
  });

  test("two adapters over one pool may both prepare", async () => {
    const pool = new pg.Pool({ connectionString: server.url(), max: 1 });
    onTestFinished(() => pool.end());
    const [one, two] = [pgAdapter(pool, { prepare: true }), pgAdapter(pool, { prepare: true })];
    expect(await one!.perform(once("select 1 as n"))).toEqual([{ n: 1 }]);
    expect(await two!.perform(once("select 2 as n"))).toEqual([{ n: 2 }]);
  });
});

// Checked by the compiler: what a body gets is what the driver calls a transaction.
const typed = (
  sql: postgres.Sql,
  db: Kysely<{ items: { name: string } }>,
  drizzled: NodePgDatabase,
  local: ReturnType<typeof drizzleSqlite>,
) => [
  postgresJsAdapter(sql).transaction((tx) => tx.savepoint((inner) => inner`select 1`)),
  kyselyAdapter(db, { dialect: "postgres" }).transaction((tx) => tx.selectFrom("items").select("name").execute()),
  drizzleAdapter(drizzled, { dialect: "postgres", sql: drizzleSql }).transaction((tx) => tx.select().from(items)),
  drizzleAdapter(local, { dialect: "sqlite" }).transactionSync((tx) => tx.run(drizzleSql`select 1`).changes),
];
void typed;
