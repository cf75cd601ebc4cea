// Apps that registered with one node, as another reaches them.
import { expect, onTestFinished, test } from "vitest";
import { Engine } from "../engine/engine.ts";
import { limits } from "../engine/limits.ts";
import { Telling } from "../engine/telling.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Store } from "../store/store.ts";
import { held } from "../testing/one-run.suite.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import type { AppRegistration } from "./apps.ts";
import { ServedApps } from "./served-apps.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

const registration = (kind: "http" | "connect", ids: readonly string[] = ["pay"]): AppRegistration => ({
  app: "shop",
  url: kind === "http" ? "http://127.0.0.1:3000/api/inngest" : null,
  functions: ids.map((id) => ({
    fn: `shop-${id}`,
    config: {
      id,
      name: id,
      triggers: [{ event: "order/paid" }],
      retries: 0,
      idempotency: null,
      startTimeoutMs: null,
      finishTimeoutMs: null,
      runtime: kind === "http" ? { kind, url: `http://127.0.0.1:3000/api/inngest?fnId=shop-${id}` } : { kind },
    },
  })),
  sdk: "js:4",
  framework: "nodejs",
  appVersion: null,
});

async function node(platform: ManualPlatform, store: Store) {
  const called: string[] = [];
  const workers = { count: 0 };
  const engine: Engine = new Engine({
    store,
    platform,
    env: "default",
    app: "",
    telling: new Telling({ logger: silent, platform }),
    runsInFlight: 10,
    leaseTermMs: limits.leaseTermSharedMs,
    eventWindowMs: 86_400_000,
    checkEvents: async () => {},
    onRegistered: () => apps.follow("default", engine),
  });
  const apps = new ServedApps({
    engine: async () => engine,
    platform,
    retryIntervalMs: null,
    remoteOf: () => ({
      call: async ({ fn }) => {
        called.push(fn);
        return { status: 200, headers: { "x-inngest-sdk": "js:v4", "x-inngest-req-version": "2" }, body: '"done"' };
      },
    }),
    workerCount: () => workers.count,
  });
  await engine.register([]);
  apps.follow("default", engine);
  await engine.start();
  onTestFinished(() => engine.stop(0));
  return { engine, apps, called, workers };
}

function nodes() {
  const platform = new ManualPlatform();
  const shared = sharedStore(platform);
  const turns = async () => {
    for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  };
  return {
    ...shared,
    turns,
    node: () => node(platform, shared.handle().store),
    advance: (ms: number) => platform.advance(ms, turns),
  };
}

const order = [{ name: "order/paid" }];

test("an app that registered with one node is called by the other, at the URL it gave, until it leaves a function out", async () => {
  const world = nodes();
  const [one, other] = [await world.node(), await world.node()];
  await one.apps.register("default", registration("http", ["pay", "ship"]));
  await world.turns();
  expect(await other.apps.list("default")).toMatchObject([
    { app: "shop", url: "http://127.0.0.1:3000/api/inngest", kind: "http", functionCount: 2 },
  ]);
  await other.engine.accept(order, 1_000, []);
  await world.turns();
  expect(other.called).toEqual(["shop-pay", "shop-ship"]);
  await one.apps.register("default", registration("http", ["ship"]));
  await world.turns();
  await other.engine.accept(order, 1_000, []);
  await world.turns();
  expect(other.called).toEqual(["shop-pay", "shop-ship", "shop-ship"]);
});

test("an app whose workers connect is executed by the node they are connected to, wherever its events are accepted", async () => {
  const world = nodes();
  const [one, other] = [await world.node(), await world.node()];
  await one.apps.register("default", registration("connect"));
  await world.turns();
  await other.engine.accept(order, 1_000, []);
  await world.advance(5_000);
  expect([one.called, other.called]).toEqual([[], []]);
  one.workers.count = 1;
  one.apps.follow("default", one.engine);
  await world.turns();
  expect([one.called, other.called]).toEqual([["shop-pay"], []]);
  one.workers.count = 0;
  one.apps.follow("default", one.engine);
  other.workers.count = 1;
  other.apps.follow("default", other.engine);
  await one.engine.accept(order, 1_000, []);
  await world.turns();
  expect([one.called, other.called]).toEqual([["shop-pay"], ["shop-pay"]]);
});

test("a run that was leased as its app's last worker left goes back, and is executed where there is one", async () => {
  const world = nodes();
  const { store } = world.handle();
  const platform = new ManualPlatform();
  const answer = held();
  const { lease } = store;
  Object.assign(store, {
    lease: async (input: Parameters<Store["lease"]>[0]) => {
      const leased = await lease(input);
      if (leased.jobs.length > 0) await answer.promise;
      return leased;
    },
  });
  const one = await node(platform, store);
  one.workers.count = 1;
  await one.apps.register("default", registration("connect"));
  const sender = await world.node();
  const { decisions } = await sender.engine.accept(order, 1_000, []);
  await world.turns();
  one.workers.count = 0;
  one.apps.follow("default", one.engine);
  answer.release();
  await world.turns();
  sender.workers.count = 1;
  sender.apps.follow("default", sender.engine);
  await world.turns();
  expect([one.called, sender.called]).toEqual([[], ["shop-pay"]]);
  expect(await store.reads.run("default", decisions[0]!.runId!)).toMatchObject({
    state: "completed",
    result: '"done"',
  });
});

test("an app whose worker was refused is listed with the reason, until a worker of it is admitted", async () => {
  const { apps } = await nodes().node();
  apps.noteWorkerFailure("default", "shop", "too old");
  expect(await apps.list("default")).toMatchObject([
    { app: "shop", url: null, kind: "connect", workers: 0, functionCount: 0, syncedAt: null, error: "too old" },
  ]);
  await apps.register("default", registration("connect"));
  expect(await apps.list("default")).toMatchObject([{ app: "shop", functionCount: 1, error: null }]);
  apps.noteWorkerFailure("default", "shop", "too old again");
  expect(await apps.list("default")).toMatchObject([{ app: "shop", functionCount: 1, error: "too old again" }]);
});
