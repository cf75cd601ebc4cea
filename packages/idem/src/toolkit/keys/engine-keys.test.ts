// Keys in the engine's own store keep the promises of key-store.ts, whichever store the engine has.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { inside } from "../../sdk/inside.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { tableNames } from "../../store/postgres/statement.ts";
import { openInlineStore } from "../../store/sqlite/inline-store.ts";
import { loadMigrations } from "../../store/sqlite/migrations.ts";
import type { Store } from "../../store/store.ts";
import { withRealTimers } from "../../testing/real-timers.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { idempotency } from "../http/idempotency.ts";
import { asking, created, fingerprint, hold, isDuplicateOf, leaseMs, windowMs } from "./conformance/world.ts";
import { engineKeys } from "./engine-keys.ts";
import { keyStoreConformance } from "./key-store-conformance.ts";

const migrations = loadMigrations();
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const clientOf = (store: Store) => new Idem({ id: "shop", store, logger: silent });

const over = (store: Store, clock: ManualPlatform["clock"]) => {
  const keysOf = () => engineKeys(clientOf(store));
  return { keys: keysOf(), another: keysOf, pass: async (ms: number) => clock.advance(ms) };
};

describe("in memory", () => {
  keyStoreConformance({
    test,
    open: async () => {
      const { clock } = new ManualPlatform();
      return over(new MemoryStore(clock), clock);
    },
  });
});

describe("on SQLite", () => {
  keyStoreConformance({
    test,
    open: async () => {
      const { clock } = new ManualPlatform();
      // Few of the claims are found without the tree, so that both ways are taken.
      const store = openInlineStore({ path: ":memory:", migrations, clock, owner: "test", newestClaimsMax: 8 });
      onTestFinished(() => store.close());
      return over(store, clock);
    },
  });
});

describe("on PostgreSQL", () => {
  let server: PostgresDatabase;
  let admin: pg.Client;
  const { clock } = new ManualPlatform();
  const stores: Store[] = [];
  beforeAll(async () => {
    server = await postgresDatabase();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    for (let node = 0; node < 4; node++) {
      const own = new ManualPlatform({ seed: node + 1 });
      const platform = withRealTimers({
        monoMs: () => clock.monoMs(),
        randomBytes: (count) => own.randomBytes(count),
      });
      const url = `${server.url}?schema=keys&pool=8`;
      stores.push(await openPostgresStore({ url, pg, platform, owner: `node ${node}`, wallMs: () => clock.wallMs() }));
    }
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await admin.end();
    await server.remove();
  });

  keyStoreConformance({
    test,
    open: async () => {
      await admin.query(tableNames.map((table) => `delete from keys.${table}`).join(";"));
      let opened = 0;
      const another = () => engineKeys(clientOf(stores[opened++ % stores.length]!));
      return { keys: another(), another, pass: async (ms) => clock.advance(ms) };
    },
  });
});

const inMemory = () => {
  const { clock } = new ManualPlatform();
  const store = new MemoryStore(clock);
  return { clock, store, keys: engineKeys(clientOf(store)) };
};

test("a client with nothing but an id is all an API needs, and its keys outlive the process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idem-engine-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let charged = 0;
  const api = () => {
    const idem = new Idem({ id: "shop", store: `sqlite:${join(folder, "shop.db")}`, logger: silent });
    const keys = idempotency({ keys: engineKeys(idem), principal: () => "user 1", logger: silent });
    const charge = keys.handler({ onCrash: "park" }, async () => Response.json({ charge: ++charged }, { status: 201 }));
    return { idem, charge };
  };
  const post = () =>
    new Request("http://shop/charges", {
      method: "POST",
      headers: { "idempotency-key": "k1", "content-type": "application/json" },
      body: '{"amount":7}',
    });
  const first = api();
  const answer = await first.charge(post());
  expect([answer.status, await answer.text()]).toEqual([201, '{"charge":1}']);
  await first.idem.stop();

  const second = api();
  onTestFinished(() => second.idem.stop());
  const again = await second.charge(post());
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect([again.status, await again.text(), charged]).toEqual([201, '{"charge":1}', 1]);
});

test("a record is a claim that people see, and may release: its claimant has lost it, and the next is told apart", async () => {
  const { store, keys } = inMemory();
  const first = await hold(keys, asking("a"));
  const [claim] = await store.reads.claims("default", { scope: "http", limit: 10 });
  expect(claim).toMatchObject({ key: asking("a").id, state: "in-flight", fence: 1 });
  expect(claim!.fingerprint).toBe(`1:${fingerprint("order 7").value}`);
  await store.release({ env: "default", scope: "http", key: first.id, fence: null, reason: "refunded by hand" });
  expect(await keys.read(first.id)).toBe(null);
  expect(await keys.complete(first, created, windowMs)).toBe("lost");
  // Never a fence that somebody had: an outside system may have seen it.
  expect(await keys.claim(asking("a"))).toMatchObject({ kind: "fresh", fence: 2, attempt: 1 });
  expect(await keys.heartbeat(first, leaseMs)).toBe("lost");
});

test("a replay writes nothing", async () => {
  const { store, keys } = inMemory();
  await keys.complete(await hold(keys, asking("a")), created, windowMs);
  const before = await store.reads.claims("default", { scope: "http", limit: 10 });
  isDuplicateOf(await keys.claim(asking("a")), created);
  expect(await store.reads.claims("default", { scope: "http", limit: 10 })).toEqual(before);
});

test("a heartbeat never takes back the point its claimant has just reached", async () => {
  const { keys } = inMemory();
  const holder = await hold(keys, asking("a", { onCrash: "resume" }));
  const writes = Array.from({ length: 5 }, (_, n) => [
    keys.heartbeat(holder, leaseMs),
    keys.reach(holder, { name: `point ${n}`, data: "1" }, leaseMs),
  ]).flat();
  expect(new Set(await Promise.all(writes))).toEqual(new Set(["held"]));
  expect((await keys.read(holder.id))!.point).not.toBe(null);
});

test("a clock that is set ahead ends no window, and no lease of a claimant that still beats", async () => {
  const { clock, keys } = inMemory();
  await keys.complete(await hold(keys, asking("a")), created, windowMs);
  const alive = await hold(keys, asking("b"));
  clock.advance(1);
  clock.stepWall(2 * windowMs);
  isDuplicateOf(await keys.claim(asking("a")), created);
  expect(await keys.claim(asking("b"))).toMatchObject({ kind: "in-flight" });
  clock.advance(leaseMs / 3);
  expect(await keys.heartbeat(alive, leaseMs)).toBe("held");
  clock.advance(leaseMs / 3);
  expect(await keys.claim(asking("b"))).toMatchObject({ kind: "in-flight" });
  expect(await keys.reap(10)).toBe(0);
  clock.advance(windowMs - (2 * leaseMs) / 3);
  expect(await keys.claim(asking("a"))).toMatchObject({ kind: "fresh", fence: 2, attempt: 1 });
});

test("parked keys and unfinished work are found among thousands of others", async () => {
  const { clock, keys } = inMemory();
  const work = { name: "w", input: "1" };
  for (let n = 0; n < 2_500; n++) await keys.complete(await hold(keys, asking(`done ${n}`)), created, windowMs);
  await keys.park(await hold(keys, asking("parked")), "why");
  await hold(keys, asking("dead", { work }));
  clock.advance(leaseMs);
  expect((await keys.parked({ limit: 10, after: null })).map(({ id }) => id)).toEqual([asking("parked").id]);
  const taking = { work: "w", owner: "completer", leaseMs, limit: 10 };
  const taken = [...(await keys.takeUnfinished(taking)), ...(await keys.takeUnfinished(taking))];
  expect(taken.map(({ record }) => record.id)).toEqual([asking("dead").id]);
});

test("environments know nothing of each other's keys", async () => {
  const { clock } = new ManualPlatform();
  const store = new MemoryStore(clock);
  const keysIn = (env: string) => engineKeys(new Idem({ id: "shop", env, store, logger: silent }));
  await hold(keysIn("live"), asking("a"));
  expect(await keysIn("staging").claim(asking("a"))).toMatchObject({ kind: "fresh", fence: 1 });
});

test("a client whose store is at a server is refused at once, and one that keeps keys is not served", () => {
  const remote = new Idem({ id: "shop", server: "http://127.0.0.1:8288", logger: silent });
  expect(() => engineKeys(remote)).toThrowError(expect.objectContaining({ code: "STORE_ELSEWHERE" }));
  const served = new Idem({ id: "shop", logger: silent });
  engineKeys(served);
  expect(() => served[inside].serving()).toThrowError(expect.objectContaining({ code: "CLIENT_EMBEDDED" }));
});

test("a claim whose note nobody can read executes nothing", async () => {
  const { store, keys } = inMemory();
  const { id } = asking("a");
  const claim = { env: "default", scope: "http", key: id, token: "t", fingerprint: null, leaseMs: 1, windowMs: 1_000 };
  await store.claim({ ...claim, note: '{"version":2}' });
  await expect(keys.claim(asking("a"))).rejects.toThrow(/does not know/);
});
