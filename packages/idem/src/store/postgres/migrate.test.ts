import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { oldEvents } from "../old-deliveries.suite.ts";
import type { Migration } from "../schema-history.ts";
import { readAddress } from "./address.ts";
import { checkSchema, migrate, versionOf } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { poolFor } from "./sessions.ts";
import { tableNames } from "./statement.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

let server: PostgresDatabase;
let admin: pg.Client;
let schemas = 0;
beforeAll(async () => {
  server = await postgresDatabase();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

/** The name of a schema that is not there yet, and sessions with its database. */
function nowhere() {
  const schema = `schema${++schemas}`;
  const pool = poolFor(pg, readAddress(server.url), "test");
  onTestFinished(() => pool.end());
  return { schema, url: `${server.url}?schema=${schema}`, pool };
}

const rowsOf = async (sql: string, ...values: unknown[]) => (await admin.query({ text: sql, values })).rows;

const tablesIn = async (schema: string): Promise<string[]> =>
  (await rowsOf("select tablename from pg_tables where schemaname = $1 order by tablename", schema)).map(
    ({ tablename }) => tablename,
  );

const open = (url: string, mode?: "attach") =>
  openPostgresStore({ url, pg, platform: nodePlatform, owner: "test", ...(mode === undefined ? {} : { mode }) });

const known = loadMigrations().at(-1)!.version;
const where = "postgres://test";

test("any number of nodes may start on an empty database at once, and find it made once", async () => {
  const stores = await Promise.all(Array.from({ length: 6 }, () => open(server.url)));
  await Promise.all(stores.map((store) => store.close()));
  expect(await tablesIn("idem")).toEqual([...tableNames, "migrations"].sort());
  const rows = await rowsOf("select version from idem.migrations order by version");
  expect(rows.map(({ version }) => version)).toEqual(loadMigrations().map(({ version }) => version));
});

test("those who take turns on a row instead of the table make it once, too", async () => {
  const { pool, schema } = nowhere();
  const rows = { hasTableLocks: false };
  const all = loadMigrations();
  await migrate(pool, schema, all.slice(0, 2), where, rows);
  await Promise.all(Array.from({ length: 4 }, () => migrate(pool, schema, all, where, rows)));
  expect(await versionOf(pool, schema)).toBe(known);
});

test("a migration that is killed half-way leaves nothing, and the next one makes it all", async () => {
  const { pool, schema } = nowhere();
  const slow: Migration = {
    version: 1,
    name: "0001_slow",
    sql: "create table meta (name text primary key); select pg_sleep(60)",
    checksum: "slow",
  };
  const killed = migrate(pool, schema, [slow], where);
  const ended = expect(killed).rejects.toThrow(/terminat/);
  const sleeper = async () =>
    (
      await admin.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
      )
    ).rows[0]?.pid ?? null;
  await expect.poll(sleeper).not.toBeNull();
  await admin.query(`select pg_terminate_backend(${await sleeper()})`);
  await ended;
  expect(await tablesIn(schema)).toEqual([]);
  expect(await rowsOf("select 1 from pg_namespace where nspname = $1", schema)).toEqual([]);
  await migrate(pool, schema, loadMigrations(), where);
  expect(await versionOf(pool, schema)).toBe(known);
});

test("a migration that fails leaves the version before as it was", async () => {
  const { pool, schema } = nowhere();
  await migrate(pool, schema, loadMigrations(), where);
  const before = await tablesIn(schema);
  const broken: Migration = {
    version: known + 1,
    name: "broken",
    sql: "create table jobs_2 (id int); select 1 / 0",
    checksum: "broken",
  };
  await expect(migrate(pool, schema, [...loadMigrations(), broken], where)).rejects.toThrow("division by zero");
  expect(await tablesIn(schema)).toEqual(before);
  expect(await versionOf(pool, schema)).toBe(known);
});

test("a newer schema is refused untouched", async () => {
  const { url, pool, schema } = nowhere();
  await pool.query(`create schema ${schema}`);
  await pool.query(`create table ${schema}.migrations (version integer primary key, name text not null)`);
  await pool.query(`insert into ${schema}.migrations values (${known + 1}, 'later')`);
  for (const mode of [undefined, "attach"] as const) {
    await expect(open(url, mode)).rejects.toMatchObject({ code: "STORE_NEWER", facts: { found: known + 1, known } });
  }
  expect(await tablesIn(schema)).toEqual(["migrations"]);
  expect(await rowsOf(`select * from ${schema}.migrations`)).toEqual([{ version: known + 1, name: "later" }]);
});

test("a store is made in the schema its address names, whatever that is called", async () => {
  const name = 'Odd "schema" ü';
  const store = await open(`${server.url}?schema=${encodeURIComponent(name)}`);
  await store.close();
  expect(await tablesIn(name)).toContain("jobs");
  expect(await tablesIn("public")).toEqual([]);
});

test("two schemas of one database do not see each other", async () => {
  const [one, two] = ["one", "two"].map(
    (schema) =>
      new Idem({ id: "shop", store: `${server.url}?schema=${schema}`, platform: nodePlatform, logger: silent }),
  ) as [Idem, Idem];
  onTestFinished(async () => {
    await Promise.all([one.stop(), two.stop()]);
  });
  one.createFunction({ id: "charge" }, { event: "order/paid" }, async () => "one");
  await Promise.all([one.start(), two.start()]);
  const event = { name: "order/paid", id: "order-7", data: {} };
  const first = await one.send(event);
  expect(first.decisions).toMatchObject([{ kind: "started" }]);
  expect(await two.send(event)).toMatchObject({ decisions: [], unmatched: true });
  expect(await one.runs.wait(first.decisions[0]!.runId!)).toMatchObject({ output: "one" });
  expect(await two.runs.list()).toEqual([]);
  expect(await one.events.list()).toHaveLength(1);
});

test("to attach makes nothing: missing and older schemas are refused with what to do", async () => {
  const { url, pool, schema } = nowhere();
  await expect(open(url, "attach")).rejects.toMatchObject({
    code: "STORE_URL_INVALID",
    message: expect.stringContaining(`schema "${schema}" has no tables of Idem; "idem migrate"`),
  });
  expect(await tablesIn(schema)).toEqual([]);
  await migrate(pool, schema, loadMigrations(), where);
  const later: Migration = { version: known + 1, name: "later", sql: "", checksum: "later" };
  await expect(checkSchema(pool, schema, [...loadMigrations(), later], where)).rejects.toMatchObject({
    message: expect.stringContaining(`has version ${known}, older than ${known + 1}`),
  });
  const store = await open(url, "attach");
  expect(await store.reads.environments()).toEqual([]);
  await store.close();
});

test("windows of deliveries that are open move along into the scope of webhooks, and nobody else's do", async () => {
  const { schema, pool } = nowhere();
  const migrations = loadMigrations();
  await migrate(pool, schema, migrations.slice(0, 9), where);
  for (const { id, callerId, name, data, extra } of oldEvents) {
    await rowsOf(
      `insert into ${schema}.events (env, id, caller_id, name, data, ts, extra, received_at, stamp) values ('default', $1, $2, $3, $4, 1, $5, 1, 1)`,
      ...[id, callerId, name, data, extra],
    );
    await rowsOf(
      `insert into ${schema}.claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
       values ('default', 'event', $1, $2, 1, 'g', 'settled', 1, 2, 0, 1, 1)`,
      ...[callerId, id],
    );
  }
  await migrate(pool, schema, migrations, where);
  const rows = await rowsOf(`select holder, scope from ${schema}.claims`);
  const scopes = Object.fromEntries(rows.map(({ holder, scope }) => [holder, scope]));
  expect(scopes).toEqual(
    Object.fromEntries(oldEvents.map(({ id, isDelivery }) => [id, isDelivery ? "webhook" : "event"])),
  );
});
