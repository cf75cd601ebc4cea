import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { newEvent } from "../contract/world.ts";
import { Connection } from "./connection.ts";
import { SqliteCore } from "./core.ts";
import { sqliteDriver } from "./driver.ts";
import { openInlineStore } from "./inline-store.ts";
import { loadMigrations } from "./migrations.ts";

const migrations = loadMigrations();
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-owner-"));
  path = join(folder, "a.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (owner: string, clock = new ManualClock()) => openInlineStore({ path, migrations, clock, owner });

describe("one process owns a file", () => {
  test("a second opener is refused and told who has it", async () => {
    const first = open("process 17 on db-host");
    expect(() => open("process 18 on db-host")).toThrow(/is in use by process 17 on db-host/);
    await first.close();
  });

  test("a second client of the same process is told so: there is no other process to stop", async () => {
    const first = open("process 17 on db-host");
    expect(() => open("process 17 on db-host")).toThrow(
      /in use by another client of this process 17 on db-host\. .*globalThis/,
    );
    await first.close();
  });

  test("a second opener is refused whatever link leads to the file: its own, or its folder's, before it exists or after", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "linked"));
    symlinkSync(join("real", "a.db"), join(folder, "link.db"));
    const names = [join(folder, "real", "a.db"), join(folder, "linked", "a.db"), join(folder, "link.db")];
    for (const first of names) {
      for (const second of names) {
        rmSync(join(folder, "real"), { recursive: true });
        mkdirSync(join(folder, "real"));
        // Once before the file exists, once after.
        for (let i = 0; i < 2; i++) {
          path = first;
          const owner = open("process 17 on db-host");
          path = second;
          expect(() => open("process 18 on db-host")).toThrow(/is in use by process 17 on db-host/);
          await owner.close();
        }
      }
    }
  });

  test("a file with a second name is refused: SQLite would keep a log beside each", async () => {
    await open("a").close();
    linkSync(path, join(folder, "b.db"));
    expect(() => open("b")).toThrow(/has 2 names \(hard links\)/);
    rmSync(join(folder, "b.db"));
    await open("c").close();
  });

  test("an owner that let go is followed at once", async () => {
    await open("a").close();
    await open("b").close();
  });

  test("leases of the owner before are free at once: nobody waits for a dead process's term", async () => {
    const clock = new ManualClock();
    const first = open("a", clock);
    await first.heartbeat("w1", 60_000_000);
    await first.ingest({
      env: "default",
      registration: null,
      leaseTo: null,
      events: [newEvent("e1")],
      pairs: [
        {
          kind: "start",
          event: 0,
          fn: "f",
          runId: "r1",
          key: null,
          windowMs: 0,
          hold: false,
          subject: "e1",
          generation: "e1",
          rank: 1,
          dueAt: null,
          leaseTo: "w1",
          reason: null,
          flow: null,
        },
      ],
    });
    // No close: the process is gone. The lock goes with it; here the handle is dropped the same way.
    await first.close();
    const second = open("b", clock);
    clock.advance(1);
    expect(await second.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1 });
    const { jobs } = await second.lease({ env: "default", worker: "w2", functions: ["f"], caps: {}, max: 10 });
    expect(jobs.map((job) => job.jobId)).toEqual(["r1"]);
    await second.close();
  });

  test("an owner whose file was taken over by force cannot commit any more", () => {
    const core = new SqliteCore({ path, migrations, clock: new ManualClock(), owner: "a" });
    const other = sqliteDriver().open(path, { readonly: false, busyMs: 5_000 });
    other.exec("update meta set value = '99' where name = 'epoch'");
    expect(() => core.commit([{ name: "heartbeat", input: ["w1", 1_000] }])).toThrow(/STORE_OWNED/);
    expect(other.prepare("select count(*) as count from workers").get()).toEqual({ count: 0 });
    other.close();
    core.close();
  });

  test("the store's clock does not go back when the next owner's wall clock is behind", async () => {
    const clock = new ManualClock();
    const first = open("a", clock);
    clock.advance(5_000);
    const { now } = await first.heartbeat("w1", 1_000);
    await first.close();
    clock.stepWall(-3_600_000);
    const second = open("b", clock);
    expect((await second.heartbeat("w2", 1_000)).now).toBeGreaterThanOrEqual(now);
    await second.close();
  });

  test("a wall clock that was set ahead closes no window early under the next owner either", async () => {
    const clock = new ManualClock();
    const hourMs = 3_600_000;
    const ask = { env: "test", scope: "s", key: "k", windowMs: 24 * hourMs, leaseMs: 1_000, fingerprint: null };
    const first = open("a", clock);
    const { fence } = (await first.claim({ ...ask, token: "t1" })) as { fence: number };
    await first.settle("test", "s", "k", fence, "1");
    clock.stepWall(13 * hourMs);
    await first.heartbeat("w1", 1_000);
    await first.close();
    const second = open("b", clock);
    await second.heartbeat("w2", 1_000);
    clock.advance(24 * hourMs - 1);
    expect(await second.claim({ ...ask, token: "t2" })).toMatchObject({ kind: "duplicate" });
    clock.advance(1);
    expect(await second.claim({ ...ask, token: "t3" })).toMatchObject({ kind: "fresh" });
    await second.close();
  });
});

describe("quick restarts", () => {
  test("do not move the store's clock ahead: a sleep and a window last as long after a hundred of them", async () => {
    const clock = new ManualClock();
    for (let i = 0; i < 100; i++) {
      const store = open("a", clock);
      clock.advance(5);
      const { now } = await store.heartbeat("w1", 1_000);
      expect(now).toBe(clock.wallMs());
      await store.close();
    }
  });

  test("give out no stamp twice, also inside one millisecond", async () => {
    const clock = new ManualClock();
    const stamps: number[] = [];
    for (let i = 0; i < 5; i++) {
      const core = new SqliteCore({ path, migrations, clock, owner: "a" });
      core.commit([
        {
          name: "ingest",
          input: [{ env: "e", registration: null, events: [newEvent(`e${i}`)], pairs: [], leaseTo: null }],
        },
      ]);
      core.close();
      const reader = sqliteDriver().open(path, { readonly: true, busyMs: 5_000 });
      stamps.push((reader.prepare("select stamp from events where id = ?").get(`e${i}`) as { stamp: number }).stamp);
      reader.close();
    }
    expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => a - b));
    expect(new Set(stamps).size).toBe(5);
  });
});

describe("a commit that fails", () => {
  test("leaves the store's clock where it was: what is stored in its place is never older than the clock says", () => {
    const clock = new ManualClock();
    const core = new SqliteCore({ path, migrations, clock, owner: "a" });
    const call = { name: "heartbeat", input: ["w1", 1_000] } as const;
    failNextCommit("SQLITE_FULL");
    expect(() => core.commit([call])).toThrow(/SQLITE_FULL/);
    // In the same millisecond.
    core.commit([call]);
    core.close();
    const reader = sqliteDriver().open(path, { readonly: true, busyMs: 5_000 });
    expect(reader.prepare("select value from meta where name = 'clock'").get()).toEqual({
      value: String(clock.wallMs()),
    });
    reader.close();
  });

  test("is refused by a store in its caller's thread as what it was, and what is beside the commit fails nobody", async () => {
    const store = openInlineStore({ path, migrations, clock: new ManualClock(), owner: "a", newestClaimsMax: 1 });
    failNextCommit("SQLITE_FULL");
    await expect(store.heartbeat("w1", 1_000)).rejects.toMatchObject({ code: "STORE_FULL" });
    const ask = { env: "e", scope: "s", windowMs: 60_000, leaseMs: 1_000, fingerprint: null };
    // The second commit of this call fills the tree of claims: it fails, and the claim was taken all the same.
    failNextCommit("SQLITE_BUSY", 1);
    expect(await store.claim({ ...ask, key: "k", token: "t1" })).toMatchObject({ kind: "fresh" });
    expect(await store.claim({ ...ask, key: "k", token: "t2" })).toMatchObject({ kind: "in-flight" });
    expect(await store.claim({ ...ask, key: "l", token: "t3" })).toMatchObject({ kind: "fresh" });
    expect(await store.claim({ ...ask, key: "k", token: "t4" })).toMatchObject({ kind: "in-flight" });
    await store.close();
  });
});

/** After so many more, the next commit is refused. */
function failNextCommit(code: string, after = 0): void {
  const real = Connection.prototype.run;
  let left = after;
  const spy = vi.spyOn(Connection.prototype, "run").mockImplementation(function (this: Connection, sql, ...params) {
    if (sql !== "commit" || left-- > 0) return real.call(this, sql, ...params);
    spy.mockRestore();
    throw Object.assign(new Error(`refused (${code})`), { code });
  });
  onTestFinished(() => void spy.mockRestore());
}

describe("a batch", () => {
  test("one call that fails does not take the others with it, and each is answered", () => {
    const core = new SqliteCore({ path, migrations, clock: new ManualClock(), owner: "a" });
    const answers = core.commit([
      { name: "heartbeat", input: ["w1", 1_000] },
      // No worker's name: a constraint refuses it.
      { name: "heartbeat", input: [null, 1_000] },
      { name: "heartbeat", input: ["w2", 1_000] },
    ]);
    expect(answers.map((answer) => answer.ok)).toEqual([true, false, true]);
    const reader = sqliteDriver().open(path, { readonly: true, busyMs: 5_000 });
    expect(reader.prepare("select id from workers order by id").all()).toEqual([{ id: "w1" }, { id: "w2" }]);
    reader.close();
    core.close();
  });
});
