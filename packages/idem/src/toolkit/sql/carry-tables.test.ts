// Tables of earlier builds, with a row of each kind they could have, and what becomes of those in the one table of claims.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { cronTick } from "../cron-tick/cron-tick.ts";
import { findOrCreateRemote } from "../find-or-create-remote.ts";
import { createSentLog } from "../sent-log/create-sent-log.ts";
import { entryId } from "../sent-log/entry.ts";
import { withLock } from "../with-lock/with-lock.ts";
import { eachDatabase, type TestDatabase } from "./databases.suite.ts";
import { checkTables, ensureTables } from "./ready-tables.ts";
import { carriedTables, releasedTables, tableSql, tablesSql } from "./tables.ts";

const later = 4_102_444_800_000;
const tick = Date.UTC(2026, 4, 8, 9);
const sentId = (recipient: string) => entryId("receipt", recipient, "order-7");

const oldRows = `
  insert into idem_locks values ('held', 'o', 1700000000000, ${later}), ('dead', 'o', 1700000000000, 1);
  insert into idem_ticks (schedule, instant, state, owner, fence, attempts, lease_until, outcome, reason, started_at, ended_at) values
    ('digest', ${tick}, 'done', 'o', 3, 2, 0, '{"sent":3}', null, 4, ${later}),
    ('digest', ${tick + 86_400_000}, 'running', 'o', 1, 1, ${later}, null, null, 4, null),
    ('report', ${tick}, 'parked', 'o', 1, 1, 0, null, 'its call died', 4, null);
  insert into idem_remote_records (kind, key, record, tried_at, known_at) values
    ('crm contact', 'user-7', '"cus_1"', 5, 6), ('crm contact', 'user-8', null, ${later}, null);
  insert into idem_webhook_cursors values ('bullhorn', '17', null, 4, 0, 9);
  insert into idem_sent_log
    (id, template, recipient, about, state, generation, owner, fence, attempts, lease_until, window_ms, sending_at, unknown_at, sent_at, ends_at, receipt, reason)
  values
    ('${sentId("sent@x")}', 'receipt', 'sent@x', 'order-7', 'sent', 2, 'o', 3, 1, 0, 1000, 1, null, 2, ${later}, '"m1"', null),
    ('${sentId("ended@x")}', 'receipt', 'ended@x', 'order-7', 'sent', 2, 'o', 3, 1, 0, 1000, 1, null, 2, 3, '"m1"', null),
    ('${sentId("dying@x")}', 'receipt', 'dying@x', 'order-7', 'sending', 1, 'o', 1, 1, 5, 1000, 1, null, null, 6, null, null),
    ('${sentId("doubt@x")}', 'receipt', 'doubt@x', 'order-7', 'unknown', 1, 'o', 1, 4, 0, 1000, 1, 5, null, 6, null, 'Error: reset'),
    ('${sentId("no@x")}', 'receipt', 'no@x', 'order-7', 'refused', 1, 'o', 1, 1, 0, 1000, 1, null, null, ${later}, null, 'HTTP 422'),
    ('${sentId("parked@x")}', 'receipt', 'parked@x', 'order-7', 'parked', 1, 'o', 1, 1, 0, 1000, 1, 5, null, 6, null, 'Error: reset')`;

/** As the last build before the one table left a database: with its notes, and without idem_claims. */
async function ofEarlierBuild({ dialect, run }: TestDatabase): Promise<void> {
  await run("drop table idem_claims; delete from idem_toolkit where name = 'idem_claims'");
  for (const name of carriedTables) {
    await run(`${tableSql(dialect, name)};
      insert into idem_toolkit values ('${name}', 1);
      insert into idem_toolkit_history values ('${name}', 1, '${releasedTables[dialect][name]}')`);
  }
  await run(oldRows);
}

eachDatabase((open, dialect) => {
  test("what locks, ticks, cursors, records elsewhere and the sent-log knew in tables of their own is known in the one, whichever processes bring it there", async () => {
    const db = await open();
    await ofEarlierBuild(db);
    await Promise.all([db.adapter, db.another(), db.another()].map((each) => ensureTables(each)));
    for (const name of carriedTables)
      await expect(db.rows(`select * from ${name}`)).rejects.toThrow(/no such table|exist/);

    const platform = () => new ManualPlatform();
    const held = await withLock(db.adapter, "held", { platform: platform() }, () => expect.unreachable());
    expect(held).toMatchObject({ kind: "in-flight" });
    const dead = await withLock(db.adapter, "dead", { platform: platform() }, ({ fence }) => fence > 1_700_000_000_000);
    expect(dead).toEqual({ kind: "done", value: true });

    const schedule = { schedule: "0 9 * * *", onCrash: "park", platform: platform(), onParked: () => {} } as const;
    const digest = cronTick(db.adapter, { ...schedule, id: "digest" }, () => expect.unreachable());
    expect(await digest.at(tick)).toMatchObject({ kind: "duplicate", value: { sent: 3 } });
    expect(await digest.at(tick + 86_400_000)).toMatchObject({ kind: "in-flight" });
    const report = cronTick(db.adapter, { ...schedule, id: "report" }, ({ previousAt }) => previousAt);
    expect(await report.unfinished()).toEqual([{ at: tick, state: "parked", attempts: 1, reason: "its call died" }]);
    expect(await report.at(tick + 86_400_000)).toMatchObject({ kind: "done", value: new Date(tick) });

    const contact = (key: string) =>
      findOrCreateRemote(db.adapter, {
        kind: "crm contact",
        key,
        visibleAfter: "1m",
        platform: platform(),
        find: async () => null,
        create: () => expect.unreachable(),
      });
    expect(await contact("user-7")).toEqual({ record: "cus_1", wasCreated: false });
    await expect(contact("user-8")).rejects.toMatchObject({ code: "REMOTE_UNSETTLED" });

    const log = createSentLog(db.adapter, { onUnknown: "park", platform: platform(), onParked: () => {} });
    const send = (recipient: string) =>
      log.once({ template: "receipt", recipient, about: "order-7", window: "1d" }, ({ attempt }) => attempt);
    expect(await send("sent@x")).toEqual({ kind: "duplicate", receipt: "m1" });
    expect(await send("ended@x")).toEqual({ kind: "done", receipt: 1 });
    for (const doubtful of ["dying@x", "doubt@x", "parked@x"]) {
      expect(await send(doubtful), doubtful).toEqual({ kind: "parked", id: sentId(doubtful) });
    }
    expect(await log.parked()).toHaveLength(3);
    expect((await log.parked()).find(({ recipient }) => recipient === "doubt@x")).toMatchObject({
      template: "receipt",
      about: "order-7",
      attempts: 4,
      reason: "Error: reset",
    });
    expect(await send("no@x")).toEqual({ kind: "done", receipt: 2 });
    expect(await db.rows("select note from idem_claims where scope = 'cursor' and key = 'bullhorn'")).toEqual([
      { note: "17" },
    ]);
  });

  test("rows that were not brought over are not forgotten: whoever would use the new table is told what to do", async () => {
    const db = await open();
    await ofEarlierBuild(db);
    await db.run(tablesSql(dialect));
    const log = createSentLog(db.adapter, { onUnknown: "resend", platform: new ManualPlatform() });
    const again = () =>
      log.once({ template: "receipt", recipient: "sent@x", about: "order-7", window: "1d" }, () => "twice");
    await expect(again()).rejects.toMatchObject({
      code: "TABLES_NOT_CARRIED",
      message: expect.stringContaining("ensureTables"),
    });
    await checkTables(db.adapter, ["idempotency_keys", "idem_outbox"]);
    await ensureTables(db.adapter);
    expect(await again()).toEqual({ kind: "duplicate", receipt: "m1" });
  });

  test("the table of ticks as the first build made it is carried over with its rows, though it took none that a person released", async () => {
    const db = await open();
    await db.run(`
      drop table idem_claims; drop table idem_toolkit_history;
      ${tableSql(dialect, "idem_ticks").replace(", 'released'", "")};
      insert into idem_toolkit values ('idem_ticks', 1);
      insert into idem_ticks (schedule, instant, state, owner, fence, attempts, lease_until, started_at)
      values ('digest', ${tick}, 'parked', 'o', 1, 2, 3, 4)`);
    await ensureTables(db.adapter);
    expect(await db.rows("select scope, key, state, attempts from idem_claims")).toEqual([
      { scope: "tick:digest", key: "2026-05-08T09:00:00.000Z", state: "parked", attempts: 2 },
    ]);
  });

  test("a table that would be carried and has a column of somebody else's is refused, and left as it was", async () => {
    const db = await open();
    await ofEarlierBuild(db);
    await db.run("alter table idem_sent_log add column mine text");
    await expect(ensureTables(db.adapter)).rejects.toMatchObject({
      code: "TABLES_DIFFER",
      facts: { table: "idem_sent_log", why: expect.stringContaining("(mine)") },
    });
    expect(await db.rows("select id from idem_sent_log")).toHaveLength(6);
    expect(await db.rows("select schedule from idem_ticks")).toHaveLength(3);
  });
});
