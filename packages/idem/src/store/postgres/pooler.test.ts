// What a transaction pooler can carry: every transaction may come to another session. And what a server without LISTEN and NOTIFY can.
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { openPostgresStore } from "./postgres-store.ts";
import type { Pg } from "./sessions.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

const hinting = /^listen |\bpg_notify\b/i;

type Change = (text: string) => string;
const asItIs: Change = (text) => text;

/** What a server answers with 0A000, as one does that has no LISTEN. */
const unsupported = "select count(*) from pg_class for update";
const withoutHints: Change = (text) => (hinting.test(text) ? unsupported : text);

/** What servers that speak the same protocol say about themselves. */
const asYugabyte: Change = (text) =>
  /^select version\(\)/.test(text)
    ? "select 'PostgreSQL 15.12-YB-2025.2.3.2-b0 on x86_64-pc-linux-gnu' as version"
    : text.replace(/current_setting\('yb_\w+', true\)/, "'read committed'");
const asCockroach: Change = (text) =>
  /^select version\(\)/.test(text) ? "select 'CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu)' as version" : text;

/** The driver, keeping what every session was opened with and asked. */
function watchedDriver(change: Change) {
  const opened: { readonly options?: unknown }[] = [];
  const asked: { readonly text: string; readonly name?: string }[] = [];
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super(config);
      opened.push(config);
    }
    override query(...input: any[]): any {
      const [query] = input;
      asked.push(typeof query === "string" ? { text: query } : query);
      const { text } = asked.at(-1)!;
      const changed = change(text);
      const sent = changed === text ? input : [changed, ...input.filter((each) => typeof each === "function")];
      return (super.query as (...input: unknown[]) => unknown)(...sent);
    }
  }
  return { driver: { types: pg.types, Client, Pool: pg.Pool } as unknown as Pg, opened, asked };
}

async function node(url: string, change = asItIs) {
  const watched = watchedDriver(change);
  const store = await openPostgresStore({ url, pg: watched.driver, platform: nodePlatform, owner: "test" });
  const idem = new Idem({ id: "shop", store, platform: nodePlatform, logger: silent });
  onTestFinished(() => idem.stop());
  idem.createFunction(
    { id: "charge", idempotency: "event.data.orderId", concurrency: 5 },
    { event: "order/paid" },
    async ({ event, step }) => {
      await step.run("charge-card", () => event.data.orderId);
      const cleared = await step.waitForEvent("cleared", {
        event: "order/cleared",
        timeout: "1h",
        match: "data.orderId",
      });
      await step.sleep("cool-off", 5);
      return cleared?.data ?? null;
    },
  );
  return { idem, ...watched };
}

const settled = async (idem: Idem, count: number) => {
  const sent = await Promise.all(
    Array.from({ length: count }, (_, orderId) =>
      idem.send({ name: "order/paid", data: { orderId: orderId % (count / 2) } }),
    ),
  );
  const runIds = new Set(sent.flatMap(({ decisions }) => decisions.map(({ runId }) => runId!)));
  expect(runIds.size).toBe(count / 2);
  const waiting = async () => (await idem.runs.list({ state: "waiting", limit: 100 })).length;
  await expect.poll(waiting).toBe(count / 2);
  await Promise.all(
    Array.from({ length: count / 2 }, (_, orderId) => idem.send({ name: "order/cleared", data: { orderId } })),
  );
  return Promise.all([...runIds].map((runId) => idem.runs.wait(runId)));
};

test("with pooler=true a node works without named statements, session settings or listening", async () => {
  const { idem, opened, asked } = await node(`${server.url}?schema=pooled&pooler=true`);
  await idem.start();
  const ended = await settled(idem, 8);
  expect(ended.map(({ state }) => state)).toEqual(ended.map(() => "completed"));
  await idem.stop();
  expect(asked.length).toBeGreaterThan(50);
  expect(asked.filter(({ name }) => name !== undefined)).toEqual([]);
  const texts = asked.map(({ text }) => text);
  const ofSession =
    /\b(listen|prepare|deallocate|pg_advisory\w*|temp(orary)?)\b|\bset (?!local\b)(session\b|[a-z_.]+ *=)/i;
  const outside = texts.filter(
    (text) => ofSession.test(text) && !/^\s*(insert|update|with|select|delete)\b/i.test(text),
  );
  expect(outside).toEqual([]);
  expect(opened.filter(({ options }) => options !== undefined)).toEqual([]);
});

test("two nodes that cannot hear each other find each other's work by looking", async () => {
  const cases: [string, Change][] = [
    ["pooler=true", asItIs],
    ["hints=false", asItIs],
    ["pool=8", withoutHints],
    ["pool=9", asYugabyte],
  ];
  const heard = await Promise.all(
    cases.map(async ([word, change]) => {
      const url = `${server.url}?schema=deaf_${word.replace("=", "_")}&${word}`;
      const [worker, sender] = [await node(url, change), await node(url, change)];
      await worker.idem.start();
      const { decisions } = await sender.idem.send({ name: "order/paid", data: { orderId: 1 } });
      await expect.poll(async () => (await worker.idem.runs.get(decisions[0]!.runId!))?.state).toBe("waiting");
      await Promise.all([worker.idem.stop(), sender.idem.stop()]);
      const asked = [...worker.asked, ...sender.asked].map(({ text }) => text);
      const ofPostgres = change === asYugabyte ? /advisory|\bctid\b|\block table\b/i : /advisory/i;
      expect(asked.filter((text) => ofPostgres.test(text))).toEqual([]);
      return asked.filter((text) => hinting.test(text)).length;
    }),
  );
  expect([heard[1], heard[3]]).toEqual([0, 0]);
  // Each asked to listen, and to tell, once at most.
  expect(heard[2]).toBeLessThanOrEqual(4);
});

test("without it statements are named, so that each is planned once per session", async () => {
  const { idem, asked, opened } = await node(`${server.url}?schema=direct`);
  await idem.start();
  await settled(idem, 4);
  await idem.stop();
  expect(asked.some(({ name }) => name !== undefined)).toBe(true);
  expect(asked.some(({ text }) => text.startsWith("listen "))).toBe(true);
  expect(opened.every(({ options }) => typeof options === "string")).toBe(true);
});

test("a server that could not keep what is promised is recognised before anything is made there", async () => {
  await expect(node(`${server.url}?schema=cockroach`, asCockroach)).rejects.toMatchObject({
    code: "STORE_SERVER_UNSUITABLE",
    message: expect.stringContaining("CockroachDB does not make the store's tables"),
  });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  expect((await client.query("select 1 from pg_namespace where nspname = 'cockroach'")).rows).toEqual([]);
  await client.end();
});
