// Sessions that stay open and answer nothing: what a node still knows of its leases while it waits for them.
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { silentProxy } from "./silent-proxy.suite.ts";

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

test("sessions that fall silent cost a node nothing: its heartbeat is heard before any of them is given up", async () => {
  const proxy = await silentProxy(server.url);
  const leaseTermMs = 5_000;
  const url = `${proxy.url}?schema=silent&pool=2`;
  const store = await openPostgresStore({ url, pg, platform: nodePlatform, owner: "test", leaseTermMs });
  onTestFinished(() => store.close());
  await store.heartbeat("w1", leaseTermMs);
  // Every session of the pool is opened, and asked something once it is silent.
  const ask = () => store.sweep({ max: 1, repair: false });
  await Promise.all([ask(), ask(), ask()]);
  proxy.silence("open");
  const settled: string[] = [];
  const asked = [ask(), ask()].map((sweep) => sweep.finally(() => settled.push("sweep")));
  const beat = store.heartbeat("w1", leaseTermMs).finally(() => settled.push("heartbeat"));
  expect(await beat).toMatchObject({ alive: true });
  await Promise.all(asked);
  expect(settled).toEqual(["heartbeat", "sweep", "sweep"]);
});
