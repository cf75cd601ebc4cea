// The toolkit through the real Prisma, over its adapters for `better-sqlite3` and `pg`: every promise of an adapter, and the toolkit's tools over it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ANONYMOUS_SHARED, idempotency, sqlKeys } from "../../packages/idem/src/http.ts";
import { ensureTables, type PrismaQueries, prismaAdapter } from "../../packages/idem/src/sql.ts";
import type { Adapter } from "../../packages/idem/src/toolkit/sql/adapter.ts";
import {
  postgresDriverTests,
  sqliteDriverTests,
  through,
} from "../../packages/idem/src/toolkit/sql/driver-tests.suite.ts";
import {
  createOutbox,
  createSentLog,
  findOrCreate,
  transition,
  upsert,
  withLock,
  withTransactionLock,
} from "../../packages/idem/src/toolkit.ts";
import { prismaOnPostgres, prismaOnSqlite } from "./prisma-client.suite.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** What a user's tables need, and each tool twice: the second time nothing happens. */
async function useToolkit(adapter: Adapter<PrismaQueries>): Promise<void> {
  await ensureTables(adapter);
  await adapter.transaction(async (tx) => {
    await tx.$executeRawUnsafe("create table invoices (id text primary key, state text, approver text)");
    await tx.$executeRawUnsafe("insert into invoices (id, state) values ('7', 'draft')");
    await tx.$executeRawUnsafe("create table users (email text primary key, name text)");
  });
  const outbox = createOutbox(adapter);
  const approve = (approver: string) =>
    adapter.transaction(async (tx) => {
      const what = { table: "invoices", id: "7", from: "draft", to: "approved", set: { approver } };
      const { moved } = await transition(adapter.wrap(tx), what);
      if (moved) await outbox.send(tx, { name: "invoice/approved", data: { approver } }, { dedupKey: "7" });
      return moved;
    });
  expect([await approve("ann"), await approve("bob")]).toEqual([true, false]);

  // With the write it belongs to, or not at all.
  const undone = adapter.transaction(async (tx) => {
    await outbox.send(tx, { name: "invoice/approved", data: {} }, { dedupKey: "8" });
    throw new Error("undo it");
  });
  await expect(undone).rejects.toThrow("undo it");
  const delivered: unknown[] = [];
  const isDelivered = new Promise<void>((resolve) => {
    const dispatching = outbox.dispatch({
      "invoice/approved": async ({ data }) => {
        delivered.push(data);
        resolve();
      },
    });
    onTestFinished(() => dispatching.stop());
  });
  await isDelivered;
  expect(delivered).toEqual([{ approver: "ann" }]);

  const texts = createSentLog(adapter, { onUnknown: "park" });
  const sent: number[] = [];
  const send = () =>
    texts.once({ template: "code", recipient: "+33612345678", window: "10m" }, async () => ({ id: sent.push(1) }));
  expect([(await send()).kind, (await send()).kind, sent.length]).toEqual(["done", "duplicate", 1]);

  const user = (name: string) =>
    adapter.transaction((tx) =>
      findOrCreate(adapter.wrap(tx), { table: "users", unique: { email: "a@shop.test" }, create: () => ({ name }) }),
    );
  expect([(await user("Ann")).wasCreated, (await user("Other")).record]).toEqual([
    true,
    { email: "a@shop.test", name: "Ann" },
  ]);
  const sync = (name: string) =>
    adapter.transaction((tx) =>
      upsert(adapter.wrap(tx), { table: "users", unique: { email: "a@shop.test" }, set: { name } }),
    );
  expect([(await sync("Anna")).outcome, (await sync("Anna")).outcome]).toEqual(["updated", "unchanged"]);

  expect(await withLock(adapter, "export", { lease: "30s", wait: "5s" }, async () => "file")).toMatchObject({
    kind: "done",
    value: "file",
  });
  const counted = await withTransactionLock(adapter, "numbers", { wait: "2s" }, async (tx) => {
    const [row] = await tx.$queryRawUnsafe<{ n: bigint | number }[]>("select count(*) as n from users");
    return Number(row!.n);
  });
  expect(counted).toMatchObject({ value: 1 });

  let charged = 0;
  const keys = idempotency({ keys: sqlKeys(adapter), principal: ANONYMOUS_SHARED, logger: silent });
  const charge = keys.handler({ onCrash: "park" }, async () => Response.json({ id: ++charged }, { status: 201 }));
  const ask = () =>
    charge(
      new Request("http://shop.test/charges", { method: "POST", headers: { "idempotency-key": "k" }, body: "{}" }),
    );
  const [first, second] = [await ask(), await ask()];
  expect([await first.text(), await second.text(), second.headers.get("idempotent-replayed")]).toEqual([
    '{"id":1}',
    '{"id":1}',
    "true",
  ]);
}

sqliteDriverTests({
  "Prisma over better-sqlite3": (path, closing) => {
    const client = prismaOnSqlite(path);
    closing(() => client.$disconnect());
    return {
      adapter: prismaAdapter(client, { dialect: "sqlite" }),
      native: (tx, text) => (/^select/i.test(text) ? tx.$queryRawUnsafe(text) : tx.$executeRawUnsafe(text)),
    };
  },
});

test("on SQLite: claims, keys, outbox, sent-log, transition, findOrCreate, upsert and locks do each thing once through Prisma", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idem-prisma-"));
  const client = prismaOnSqlite(join(folder, "shop.db"));
  onTestFinished(async () => {
    await client.$disconnect();
    rmSync(folder, { recursive: true, force: true });
  });
  await useToolkit(prismaAdapter(client, { dialect: "sqlite" }));
});

test("a transaction that Prisma undoes for its length is an error that says so, and nothing of it is there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idem-prisma-"));
  const client = prismaOnSqlite(join(folder, "shop.db"));
  onTestFinished(async () => {
    await client.$disconnect();
    rmSync(folder, { recursive: true, force: true });
  });
  const adapter = prismaAdapter(client, { dialect: "sqlite", timeout: 50 });
  await adapter.transaction(async (tx) => tx.$executeRawUnsafe("create table items (name text)"));
  const long = adapter.transaction(async (tx) => {
    await tx.$executeRawUnsafe("insert into items (name) values ('a')");
    // Until Prisma says that it is over.
    for (;;) {
      await adapter.wrap(tx).query("select 1 as still", []);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  await expect(long).rejects.toMatchObject({ code: "TRANSACTION_ABORTED" });
  const { rows } = await adapter.transaction((tx) => adapter.wrap(tx).query("select name from items", []));
  expect(rows).toEqual([]);
});

postgresDriverTests(
  {
    "Prisma over pg": (url, closing) => {
      const client = prismaOnPostgres(url);
      // Not awaited: a session that was lost while it committed is never given back to its pool.
      closing(() => void client.$disconnect());
      return {
        adapter: prismaAdapter(client, { dialect: "postgres" }),
        native: (tx, text) => tx.$executeRawUnsafe(text),
      };
    },
  },
  (server) => {
    test("claims, keys, outbox, sent-log, transition, findOrCreate, upsert and locks do each thing once through Prisma", async () => {
      const client = prismaOnPostgres(through(server.url(), await server.schema()));
      onTestFinished(() => client.$disconnect());
      await useToolkit(prismaAdapter(client, { dialect: "postgres" }));
    });
  },
);
