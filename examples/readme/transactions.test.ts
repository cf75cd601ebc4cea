// What docs/transactions.md says its examples do, they do, on a real server.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tablesSql } from "idem/sql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../packages/idem/src/testing/shared-postgres.suite.ts";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

let server: PostgresDatabase;
let shop: typeof import("./transactions.ts");
const before = process.env.DATABASE_URL;
beforeAll(async () => {
  server = await postgresDatabase();
  process.env.DATABASE_URL = server.url;
  process.env.WAREHOUSE_URL = server.url;
  shop = await import("./transactions.ts");
  await shop.pool.query(`
    create sequence order_ids;
    create table orders (id uuid primary key default lpad(nextval('order_ids')::text, 32, '0')::uuid, item text, count int check (count > 0));
    create table stock (item text primary key, left_over int check (left_over >= 0));
    create table purchases (item text, reference text);
    create table movements (id int generated always as identity, item text, count int);
    insert into stock values ('bolt', 10)`);
  await shop.pool.query(tablesSql("postgres", ["idem_steps"]));
  await shop.idem.start();
});
afterAll(async () => {
  await shop.idem.stop();
  await shop.pool.end();
  await shop.warehousePool.end();
  await server.remove();
  if (before === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = before;
});

const column = async (sql: string): Promise<unknown[]> =>
  (await shop.pool.query<unknown[]>({ text: sql, rowMode: "array" })).rows.map(([first]) => first);

test("every code block of docs/transactions.md is a region of transactions.ts, to the letter and in order", () => {
  const blocks = [...read("../../docs/transactions.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) =>
    code!.trim(),
  );
  const regions = [...read("./transactions.ts").matchAll(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/g)];
  expect(blocks).toEqual(regions.map(([, code]) => code!.trim()));
});

test("an order that was placed takes from the stock, once; one that was refused never did anything", async () => {
  await shop.placeOrder("bolt", 3);
  await expect(shop.placeOrder("bolt", 0)).rejects.toThrow(/violates check constraint/);
  await expect.poll(() => column("select left_over from stock")).toEqual([7]);
  await shop.idem.idle();
  expect(await column("select count(*)::int from idem.events where name = 'order/placed'")).toEqual([1]);
});

test("a write, its step and its event are one", async () => {
  const { decisions } = await shop.idem.send({ name: "stock/low", data: { item: "bolt" } });
  expect(await shop.idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  expect(await column("select item from purchases")).toEqual(["bolt"]);
  await expect
    .poll(() => column("select data from idem.events where name = 'purchase/made'"))
    .toEqual(['{"item":"bolt"}']);
});

test("a step in a database of one's own is one commit with its row, also when its run is rerun", async () => {
  const { decisions } = await shop.idem.send({ name: "order/packed", data: { item: "bolt", count: 2 } });
  expect((await shop.idem.runs.wait(decisions[0]!.runId!)).output).toEqual({ movement: 1 });
  const { runId } = await shop.idem.runs.rerun(decisions[0]!.runId!);
  expect((await shop.idem.runs.wait(runId)).output).toEqual({ movement: 1 });
  expect(await column("select count from movements")).toEqual([-2]);
  expect(await column("select value from idem_steps")).toEqual(['{"movement":1}']);
});

test("an order that was placed through Kysely takes from the stock, too", async () => {
  await shop.placeThroughKysely("nut", 1);
  await expect(shop.placeThroughKysely("nut", 0)).rejects.toThrow(/violates check constraint/);
  const sent = "select data from idem.events where name = 'order/placed' and data like '%nut%'";
  await expect.poll(() => column(sent)).toEqual(['{"item":"nut","count":1}']);
});
