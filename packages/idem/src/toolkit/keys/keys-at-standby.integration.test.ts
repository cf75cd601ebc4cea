// A user's own PostgreSQL whose commits wait for a standby: what is answered again is at the standby, too.
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type LocalPostgres, type LocalStandby, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { cronTick } from "../cron-tick/cron-tick.ts";
import { findOrCreateRemote } from "../find-or-create-remote.ts";
import { inbox } from "../inbox.ts";
import { createSentLog } from "../sent-log/create-sent-log.ts";
import { pgAdapter } from "../sql/pg.ts";
import { ensureTables } from "../sql/ready-tables.ts";
import { asking, created, hold, windowMs } from "./conformance/world.ts";
import { sqlKeys } from "./sql-keys.ts";

let server: LocalPostgres;
let standby: LocalStandby;
let pool: pg.Pool;
beforeAll(async () => {
  server = await startLocalPostgres({ settings: { shared_buffers: "32MB" } });
  standby = await server.addStandby();
  pool = new pg.Pool({ connectionString: server.url, application_name: "user" });
  pool.on("error", () => {});
});
afterAll(async () => {
  standby.thaw();
  await pool.end();
  await server.remove();
});

async function untilWaiting(count: number, answered: readonly unknown[]): Promise<number[]> {
  return vi.waitFor(
    async () => {
      const { rows } = await pool.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = 'user' and wait_event = 'SyncRep'",
      );
      if (answered.length === 0) expect(rows).toHaveLength(count);
      return rows.map(({ pid }) => pid);
    },
    { timeout: 60_000, interval: 10 },
  );
}

test("a stored answer and a processed message are told to nobody again before the standby has them", async () => {
  const adapter = pgAdapter(pool);
  await ensureTables(adapter);
  const keys = sqlKeys(adapter);
  const held = await hold(keys, asking("a"));
  await keys.complete(held, created, windowMs);
  const message = { source: "queue", id: "7" };
  await inbox.process(adapter, message, () => {});
  standby.freeze();
  const answered: string[] = [];
  const asked = {
    "the answer": () => keys.claim(asking("a")),
    "that it is kept": () => keys.complete(held, created, windowMs),
    "that it was processed": () => inbox.process(adapter, message, () => {}),
  };
  const asks = Object.entries(asked).map(([what, ask]) => ask().then(() => answered.push(what)));
  await untilWaiting(asks.length, answered);
  expect(answered).toEqual([]);
  standby.thaw();
  await Promise.all(asks);
});

test("what was sent, what a tick returned and what was found elsewhere is told to nobody again before the standby has it", async () => {
  const adapter = pgAdapter(pool);
  await ensureTables(adapter);
  const log = createSentLog(adapter, { onUnknown: "resend" });
  const tick = cronTick(adapter, { id: "digest", schedule: "0 9 * * *", onCrash: "resume" }, () => 3);
  const asked = {
    "the receipt": () => log.once({ template: "receipt", recipient: "ada@example.com", window: "1d" }, () => "m1"),
    "what the tick returned": () => tick.at(Date.UTC(2026, 4, 8, 9)),
    "the record": () =>
      findOrCreateRemote(adapter, {
        kind: "crm",
        key: "7",
        visibleAfter: 0,
        find: async () => "c1",
        create: async () => "c2",
      }),
  };
  for (const ask of Object.values(asked)) await ask();
  standby.freeze();
  const answered: string[] = [];
  const asks = Object.entries(asked).map(([what, ask]) => ask().then(() => answered.push(what)));
  await untilWaiting(asks.length, answered);
  expect(answered).toEqual([]);
  standby.thaw();
  await Promise.all(asks);
});

test("a commit whose wait for the standby was cancelled is unknown to a transaction's owner", async () => {
  const adapter = pgAdapter(pool);
  await pool.query("create table written (id int)");
  standby.freeze();
  const committing = adapter.transaction((tx) => tx.query("insert into written values (1)"));
  committing.catch(() => {});
  const pids = await untilWaiting(1, []);
  await pool.query("select pg_cancel_backend(pid) from unnest($1::int[]) pid", [pids]);
  await expect(committing).rejects.toMatchObject({ code: "COMMIT_UNKNOWN" });
  standby.thaw();
});
