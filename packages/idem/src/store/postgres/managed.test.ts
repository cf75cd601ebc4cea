// A server as providers run it: no superuser, and bounds on what a role's sessions may do. Whatever a bound ends is asked again, and is
// there once.
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { env, newEvent, newStep, startPair, World } from "../contract/world.ts";
import { readAddress } from "./address.ts";
import { migrate, versionOf } from "./migrate.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { poolFor } from "./sessions.ts";

let server: LocalPostgres;
let admin: pg.Pool;
beforeAll(async () => {
  server = await startLocalPostgres();
  admin = new pg.Pool({ connectionString: server.url, max: 2 });
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

/** The address of a role that may make its schema, and that is bound so. */
async function bound(role: string, bounds: string): Promise<string> {
  await admin.query(`create role ${role} login password 'idem' ${bounds.startsWith("connection") ? bounds : ""}`);
  await admin.query(`grant create on database postgres to ${role}`);
  if (!bounds.startsWith("connection")) await admin.query(`alter role ${role} set ${bounds}`);
  return `postgres://${role}:idem@127.0.0.1:${server.port}/postgres?schema=${role}`;
}

async function open(url: string): Promise<World> {
  const store = await openPostgresStore({ url, pg, platform: nodePlatform, owner: "test" });
  onTestFinished(() => store.close());
  return new World(store, nodePlatform as never);
}

const aClaim = { env, scope: "http", token: "t", fingerprint: null, windowMs: 60_000, leaseMs: 60_000 };

test("sessions that are ended for being idle are opened anew, and nobody notices", async () => {
  const world = await open(await bound("idler", "idle_session_timeout = '50ms'"));
  const stop = world.store.shared!.subscribe(() => {});
  await world.ingest([newEvent("a")], [startPair("run of a")]);
  const sessions = async () =>
    (
      await admin.query(
        "select 1 from pg_stat_activity where usename = 'idler' and application_name not like '%listens%'",
      )
    ).rowCount;
  await expect.poll(sessions, { interval: 10 }).toBe(0);
  expect(server.log()).toContain("due to idle-session timeout");
  await world.ingest([newEvent("a")], [startPair("run of a")]);
  expect((await admin.query("select id from idler.runs")).rows).toEqual([{ id: "run of a" }]);
  stop();
});

test("a statement that is ended for taking too long behind a lock is asked again once the lock is free", async () => {
  const world = await open(await bound("hurried", "statement_timeout = '200ms'"));
  await world.startLeased("r");
  const holder = await admin.connect();
  await holder.query("begin");
  await holder.query("select 1 from hurried.jobs for update");
  const saved = world.advance("r", { steps: [newStep("s")] });
  await expect.poll(() => server.log(), { interval: 10 }).toContain("due to statement timeout");
  await holder.query("commit");
  holder.release();
  expect(await saved).toMatchObject({ kind: "advanced" });
  expect((await admin.query("select step_id from hurried.steps")).rowCount).toBe(1);
});

test("a migration takes as long as it takes, whatever a statement of its role may", async () => {
  const url = await bound("migrating", "statement_timeout = '100ms'");
  const pool = poolFor(pg, readAddress(url), "test");
  onTestFinished(() => pool.end());
  const sql = "create table meta (name text primary key, value text); select pg_sleep(0.2)";
  await migrate(pool, "migrating", [{ version: 1, name: "0001_slow", sql, checksum: "slow" }], "postgres://test");
  expect(await versionOf(pool, "migrating")).toBe(1);
});

test("a node that may have fewer sessions than its pool waits for one instead of losing a call", async () => {
  const url = await bound("few", "connection limit 4");
  const world = await open(url);
  await world.store.heartbeat("w1", 60_000);
  const keys = Array.from({ length: 40 }, (_, n) => `key ${n}`);
  const claimed = await Promise.all(keys.map((key) => world.store.claim({ ...aClaim, key })));
  expect(claimed.map(({ kind }) => kind)).toEqual(keys.map(() => "fresh"));
  expect(await world.store.heartbeat("w1", 60_000)).toMatchObject({ alive: true });
});

test("a node that finds no session at all says so, and that others must end first", async () => {
  const url = await bound("nobody", "connection limit 0");
  await expect(open(url)).rejects.toMatchObject({
    code: "STORE_TOO_MANY_SESSIONS",
    message: expect.stringContaining('too many connections for role "nobody"'),
  });
});
