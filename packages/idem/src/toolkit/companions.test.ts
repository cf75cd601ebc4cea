import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { findOrCreate, findOrCreateSync } from "./find-or-create.ts";
import { findOrCreateRemote } from "./find-or-create-remote.ts";
import { inbox } from "./inbox.ts";
import type { Adapter, SyncAdapter } from "./sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "./sql/databases.suite.ts";
import { transition, transitionSync } from "./transition.ts";
import { upsert, upsertSync } from "./upsert.ts";
import { withTransactionLock } from "./with-lock/transaction-lock.ts";
import { reapLocks, withLock } from "./with-lock/with-lock.ts";

const isSync = (adapter: Adapter<any>): adapter is SyncAdapter<any> => adapter.bodies === "sync";

/** The user's own write, in whichever way their driver has it. */
const write = (adapter: Adapter<any>, tx: any, text: string): any =>
  isSync(adapter) ? void tx.exec(text) : tx.query(text);

const platform = () => new ManualPlatform({ seed: ++seeds });
let seeds = 0;

eachDatabase((open, dialect) => {
  const shop = async (): Promise<TestDatabase> => {
    const db = await open();
    await db.run(
      "create table invoices (id text primary key, state text not null, approver text);" +
        "create table users (id integer, email text unique, name text, plan text, primary key (id));" +
        "create table plain (email text, name text);" +
        "insert into invoices values ('i1', 'draft', null)",
    );
    return db;
  };
  const move = (adapter: Adapter<any>, asked: Parameters<typeof transition>[1]) =>
    adapter.transaction((tx) =>
      isSync(adapter) ? transitionSync(adapter, tx, asked) : transition(adapter.wrap(tx), asked),
    );
  const findOne = (adapter: Adapter<any>, asked: Parameters<typeof findOrCreate>[1]) =>
    adapter.transaction((tx) =>
      isSync(adapter) ? findOrCreateSync(adapter, tx, asked) : findOrCreate(adapter.wrap(tx), asked),
    );
  const put = (adapter: Adapter<any>, asked: Parameters<typeof upsert>[1]) =>
    adapter.transaction((tx) => (isSync(adapter) ? upsertSync(adapter, tx, asked) : upsert(adapter.wrap(tx), asked)));

  test("inbox: a message that comes twice is processed once, by each consumer", async () => {
    const db = await shop();
    const message = { source: "billing", id: "m1" };
    const body = (tx: any) => write(db.adapter, tx, "update invoices set approver = coalesce(approver, '') || 'x'");
    const first = await inbox.process(db.adapter, message, body);
    expect(first.kind).toBe("done");
    const second = await inbox.process(db.adapter, message, body);
    expect(second).toEqual({ kind: "duplicate", firstSeenAt: first.firstSeenAt });
    const other = await inbox.process(db.adapter, { ...message, consumer: "search" }, body);
    expect(other.kind).toBe("done");
    expect(await db.rows("select approver from invoices")).toEqual([{ approver: "xx" }]);
  });

  test("inbox: a body that throws leaves nothing behind, and the redelivery is processed", async () => {
    const db = await shop();
    const message = { source: "billing", id: "m1" };
    const failing = inbox.process(db.adapter, message, (tx) => {
      const written = write(db.adapter, tx, "update invoices set approver = 'x'");
      if (!isSync(db.adapter)) return written.then(() => Promise.reject(new Error("down")));
      throw new Error("down");
    });
    await expect(failing).rejects.toThrow("down");
    expect(await db.rows("select approver from invoices")).toEqual([{ approver: null }]);
    expect((await inbox.process(db.adapter, message, () => 7)).kind).toBe("done");
  });

  test("inbox: another content under the same id is reported, not processed", async () => {
    const db = await shop();
    const message = { source: "billing", id: "m1", digest: "a" };
    await inbox.process(db.adapter, message, () => 1);
    const other = await inbox.process(db.adapter, { ...message, digest: "b" }, () => expect.unreachable());
    expect(other.kind).toBe("mismatch");
    expect((await inbox.process(db.adapter, message, () => expect.unreachable())).kind).toBe("duplicate");
    await db.age("idem_inbox", 86_400_000);
    expect(await inbox.reap(db.adapter, { source: "billing", olderThan: "2d" })).toBe(0);
    expect(await inbox.reap(db.adapter, { source: "billing", olderThan: "1d" })).toBe(1);
  });

  test("inbox: of two deliveries at once one is processed", async () => {
    const db = await shop();
    const process = (adapter: Adapter<any>) => inbox.process(adapter, { source: "billing", id: "m1" }, () => 1);
    const adapters = [db.adapter, db.another(), db.another(), db.another()];
    const outcomes = (await Promise.all(adapters.map(process))).map(({ kind }) => kind).sort();
    expect(outcomes).toEqual(["done", "duplicate", "duplicate", "duplicate"]);
  });

  test.runIf(dialect === "sqlite")("an async body is refused before anything is written", async () => {
    const db = await shop();
    const refused = inbox.process(db.adapter, { source: "billing", id: "m1" }, async () => 1);
    await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_ASYNC" });
    expect(await db.rows("select * from idem_inbox")).toEqual([]);
  });

  test("transition: of many who approve an invoice exactly one does", async () => {
    const db = await shop();
    const approve = (adapter: Adapter<any>, approver: string) =>
      move(adapter, { table: "invoices", id: "i1", from: "draft", to: "approved", set: { approver } });
    const all = await Promise.all(["a", "b", "c", "d"].map((name) => approve(db.another(), name)));
    const movers = all.filter(({ moved }) => moved);
    expect(movers).toHaveLength(1);
    const now = (await db.rows("select * from invoices"))[0];
    expect(all.every(({ row }) => row?.approver === now.approver && row?.state === "approved")).toBe(true);
  });

  test("transition: a row in another state stays as it is, and a row that is not there is null", async () => {
    const db = await shop();
    const asked = { table: "invoices", from: ["sent", "overdue"], to: "paid" };
    expect(await move(db.adapter, { ...asked, id: "i1" })).toMatchObject({ moved: false, row: { state: "draft" } });
    expect(await move(db.adapter, { ...asked, where: { id: "i2" } })).toEqual({ moved: false, row: null });
    const wrong = move(db.adapter, { ...asked, table: 'invoices"; drop table users; --', id: "i1" });
    await expect(wrong).rejects.toMatchObject({ code: "TOOLKIT_OPTION_INVALID" });
  });

  test("findOrCreate: of many callers exactly one creates", async () => {
    const db = await shop();
    const all = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        findOne(db.another(), { table: "users", unique: { email: "ada@x" }, create: () => ({ id: n, name: `n${n}` }) }),
      ),
    );
    expect(all.filter(({ wasCreated }) => wasCreated)).toHaveLength(1);
    expect(new Set(all.map(({ record }) => record.name)).size).toBe(1);
  });

  test.runIf(dialect === "postgres")(
    "findOrCreate: when the creator rolls back, exactly one of those who waited becomes the creator",
    async () => {
      const db = await shop();
      let ids = 0;
      const asked = { table: "users", unique: { email: "ada@x" }, create: () => ({ id: ++ids }) };
      let rollback = (_error: Error) => {};
      let isCreated = () => {};
      const created = new Promise<void>((resolve) => (isCreated = resolve));
      const creator = db.adapter.transaction(async (tx) => {
        expect((await findOrCreate(db.adapter.wrap(tx), asked)).wasCreated).toBe(true);
        isCreated();
        await new Promise((_, reject) => (rollback = reject));
      });
      await created;
      const others = [1, 2, 3].map(() => findOne(db.adapter, asked));
      const waiting = () =>
        db.rows("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
      await expect.poll(waiting).toHaveLength(3);
      rollback(new Error("no"));
      await expect(creator).rejects.toThrow("no");
      expect((await Promise.all(others)).filter(({ wasCreated }) => wasCreated)).toHaveLength(1);
    },
  );

  test("findOrCreate and upsert without a unique index are refused, and write nothing", async () => {
    const db = await shop();
    const asked = { table: "plain", unique: { email: "ada@x" }, create: () => ({}) };
    await expect(findOne(db.adapter, asked)).rejects.toMatchObject({ code: "UNIQUE_INDEX_MISSING" });
    const putting = put(db.adapter, { table: "plain", unique: { email: "ada@x" }, set: { name: "Ada" } });
    await expect(putting).rejects.toMatchObject({ code: "UNIQUE_INDEX_MISSING" });
    expect(await db.rows("select * from plain")).toEqual([]);
    const nobody = findOne(db.adapter, { table: "users", unique: { email: null } });
    await expect(nobody).rejects.toMatchObject({ code: "TOOLKIT_OPTION_INVALID" });
  });

  test("upsert says whether it inserted, updated or changed nothing", async () => {
    const db = await shop();
    const asked = (plan: string | null) => ({
      table: "users",
      unique: { email: "ada@x" },
      set: { plan, name: "Ada" },
      create: { id: 1 },
    });
    expect(await put(db.adapter, asked("pro"))).toMatchObject({ outcome: "inserted", record: { plan: "pro" } });
    expect((await put(db.adapter, asked("pro"))).outcome).toBe("unchanged");
    expect(await put(db.adapter, asked(null))).toMatchObject({ outcome: "updated", record: { plan: null } });
    expect((await put(db.adapter, asked(null))).outcome).toBe("unchanged");
    expect(await db.rows("select id, name, plan from users")).toEqual([{ id: 1, name: "Ada", plan: null }]);
  });

  test("withLock: one at a time; who does not wait is told for how long it is taken", async () => {
    const db = await shop();
    let release = () => {};
    let fences: number[] = [];
    const first = withLock(db.adapter, "invoice:7", { platform: platform() }, async ({ fence }) => {
      fences.push(fence);
      await new Promise<void>((resolve) => (release = resolve));
      return "a";
    });
    await expect.poll(() => fences.length).toBe(1);
    const second = () =>
      withLock(db.another(), "invoice:7", { platform: platform() }, ({ fence }) => fences.push(fence));
    expect(await second()).toMatchObject({ kind: "in-flight" });
    release();
    expect(await first).toEqual({ kind: "done", value: "a" });
    expect(await second()).toMatchObject({ kind: "done" });
    await reapLocks(db.adapter);
    const twoDays = 2 * 86_400_000;
    await db.age("idem_claims", twoDays);
    expect(await reapLocks(db.adapter)).toBe(1);
    // They were made to be two days ago, with the row that knew them.
    fences = fences.map((fence) => fence - twoDays);
    expect(await second()).toMatchObject({ kind: "done" });
    expect(fences).toHaveLength(3);
    fences = fences.map((fence, i) => fence - (fences[i - 1] ?? 0));
    expect(fences.every((grown) => grown > 0)).toBe(true);
  });

  test("withLock: who waits gets it when the holder has ended", async () => {
    const db = await shop();
    let release = () => {};
    const first = withLock(db.adapter, "invoice:7", {}, () => new Promise<void>((resolve) => (release = resolve)));
    await expect.poll(() => db.rows("select 1 from idem_claims")).toHaveLength(1);
    const second = withLock(db.another(), "invoice:7", { wait: "30s" }, () => "b");
    release();
    await first;
    expect(await second).toEqual({ kind: "done", value: "b" });
  });

  test("withLock: a holder whose lease ended can no longer write, and is told", async () => {
    const db = await shop();
    let goOn = () => {};
    const stalled = withLock(db.adapter, "invoice:7", { platform: platform() }, async ({ transaction, recheck }) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      const late = transaction((tx: any) => write(db.adapter, tx, "update invoices set state = 'late'"));
      await expect(late).rejects.toMatchObject({ code: "LOCK_LOST" });
      await expect(recheck(() => true)).rejects.toMatchObject({ code: "LOCK_LOST" });
    });
    await expect.poll(() => db.rows("select 1 from idem_claims")).toHaveLength(1);
    await db.age("idem_claims", 31_000);
    const another = db.another();
    const next = await withLock(another, "invoice:7", { platform: platform() }, async ({ transaction }) => {
      await transaction((tx: any) => write(another, tx, "update invoices set state = 'sent'"));
    });
    expect(next.kind).toBe("done");
    goOn();
    expect((await stalled).kind).toBe("lost");
    expect(await db.rows("select state from invoices")).toEqual([{ state: "sent" }]);
  });

  test("withLock: a check may be asked inside a transaction under the lock", async () => {
    const db = await shop();
    const checked: unknown[] = [];
    const locked = await withLock(
      db.adapter,
      "invoice:7",
      { platform: platform() },
      async ({ transaction, recheck }) => {
        await transaction(() => {
          const asked = recheck(() => "i1").then((answer) => void checked.push(answer));
          if (!isSync(db.adapter)) return asked;
        });
        await recheck(() => checked.push("after"));
      },
    );
    expect([locked.kind, checked]).toEqual(["done", ["i1", "after"]]);
  });

  test("withTransactionLock: the lock ends with the transaction, and a failed one leaves nothing", async () => {
    const db = await shop();
    const body = (tx: any) => write(db.adapter, tx, "update invoices set state = 'sent'");
    expect((await withTransactionLock(db.adapter, "invoice:7", {}, body)).kind).toBe("done");
    const failing = withTransactionLock(db.adapter, "invoice:7", {}, () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect((await withTransactionLock(db.another(), "invoice:7", { wait: 50 }, () => 1)).kind).toBe("done");
  });

  test.runIf(dialect === "postgres")(
    "withTransactionLock: who waited long enough is told that it is taken",
    async () => {
      const db = await shop();
      const inner = await withTransactionLock(db.adapter, "invoice:7", {}, () =>
        withTransactionLock(db.another(), "invoice:7", { wait: 20 }, () => expect.unreachable()),
      );
      expect(inner).toMatchObject({ value: { kind: "in-flight" } });
    },
  );

  test("findOrCreateRemote: created once, remembered here, never searched again", async () => {
    const db = await shop();
    const remote = new Map<string, string>();
    let searches = 0;
    const keys: string[] = [];
    const customer = (adapter: Adapter<any>) =>
      findOrCreateRemote(adapter, {
        kind: "stripe customer",
        key: "user-7",
        visibleAfter: "1m",
        platform: platform(),
        find: async () => {
          searches++;
          return remote.get("user-7") ?? null;
        },
        create: async ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          remote.set("user-7", "cus_1");
          return "cus_1";
        },
      });
    expect(await customer(db.adapter)).toEqual({ record: "cus_1", wasCreated: true });
    expect(await customer(db.another())).toEqual({ record: "cus_1", wasCreated: false });
    expect([searches, keys.length]).toEqual([1, 1]);
  });

  test("findOrCreateRemote: after a creation nobody saw end, a search is trusted only once it must show it", async () => {
    const db = await shop();
    const found: (string | null)[] = [null, null, "cus_1"];
    const keys: string[] = [];
    const ask = (isLost: boolean) =>
      findOrCreateRemote(db.adapter, {
        kind: "crm contact",
        key: "user-7",
        visibleAfter: "1m",
        platform: platform(),
        find: async () => found.shift() ?? null,
        create: async ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (isLost) throw new Error("ECONNRESET");
          return "cus_2";
        },
      });
    await expect(ask(true)).rejects.toThrow("ECONNRESET");
    await expect(ask(false)).rejects.toMatchObject({ code: "REMOTE_UNSETTLED" });
    await db.age("idem_claims", 60_001);
    expect(await ask(false)).toEqual({ record: "cus_1", wasCreated: false });
    expect(keys).toHaveLength(1);
  });

  test("findOrCreateRemote: what is there already is found again", async () => {
    const db = await shop();
    const found: (string | null)[] = [null, "cus_1"];
    const answer = await findOrCreateRemote(db.adapter, {
      kind: "crm contact",
      key: "user-7",
      visibleAfter: 0,
      platform: platform(),
      find: async () => found.shift()!,
      create: async () => {
        throw new Error("409");
      },
      isTaken: (error) => (error as Error).message === "409",
    });
    expect(answer).toEqual({ record: "cus_1", wasCreated: false });
  });
});
