// What a process does when its store lost acknowledged writes: it reports it once, with what it knows, and continues.
import { expect, onTestFinished, test } from "vitest";
import { dayMs } from "../model/window.ts";
import type { Idem } from "../sdk/client.ts";
import type { AlertPair } from "../store/alerts.ts";
import type { AcknowledgedWrites, HistoryReport, StoreHistory, StoreRollback } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { limits } from "./limits.ts";
import { AcknowledgedIds } from "./lost-writes.ts";

/** A history that reports what a test says, and misses what it says. */
class FakeHistory implements StoreHistory {
  private readonly listeners = new Set<(report: HistoryReport) => void>();
  readonly lost = new Set<string>();

  subscribe(listener: (report: HistoryReport) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async missing(_env: string, { events, runs }: AcknowledgedWrites): Promise<AcknowledgedWrites> {
    const isLost = (id: string) => this.lost.has(id);
    return { events: events.filter(isLost), runs: runs.filter(isLost) };
  }

  report(report: HistoryReport): void {
    for (const listener of this.listeners) listener(report);
  }
}

function cluster() {
  const world = testIdem<any>();
  const { platform } = world.idem as unknown as { platform: { wallMs(): number; monoMs(): number } };
  const { handle } = sharedStore(platform);
  const node = async (name: string) => {
    const history = new FakeHistory();
    const { store: shared } = handle();
    const store = { ...shared, shared: { ...shared.shared!, history } } as Store;
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (line: unknown) => void errors.push(String(line)) };
    const idem: Idem = world.client({ id: "shop", store, logger });
    idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => "billed");
    onTestFinished(() => idem.stop({ grace: 0 }));
    await idem.start();
    const rollback = (over: Partial<StoreRollback> = {}): StoreRollback => ({
      server: "server 2",
      proof: `heartbeats of ${name}`,
      survivedAt: platform.wallMs() - 20_000,
      firstAt: platform.wallMs() - 60_000,
      acknowledgedAt: platform.wallMs() - 10_000,
      foundAt: platform.wallMs(),
      ...over,
    });
    const find = async (over: Partial<StoreRollback> = {}) => {
      const found = rollback(over);
      history.report({ kind: "rollback", rollback: found });
      await world.clock.tick(1);
      return found;
    };
    return { idem, store, history, errors, find };
  };
  const alertsIn = async ({ reads }: Store) =>
    (await reads.alerts("default", { limit: 100 })).filter(({ kind }) => kind === "store-rollback");
  const pairsOf = async ({ reads }: Store, id: string): Promise<readonly AlertPair[]> =>
    reads.alertPairs("default", id, { limit: 100 });
  return { clock: world.clock, platform, node, alertsIn, pairsOf };
}

const instant = (ms: number) => new Date(ms).toISOString();

test("lost writes are one block in the log and one alert, with the range and every acknowledged id that is missing", async () => {
  const { clock, node, alertsIn, pairsOf } = cluster();
  const { idem, store, history, errors, find } = await node("a");
  const heard: unknown[] = [];
  idem.on("store.rolled-back", (tidings) => heard.push(tidings));
  const sent = await Promise.all([1, 2, 3].map((n) => idem.send({ name: "order/paid", data: { n } })));
  await clock.tick(1_000);
  const events = sent.map(({ ids }) => ids[0]!);
  const [run] = sent.map(({ decisions }) => decisions[0]!.runId!);
  history.lost.add(events[1]!).add(events[2]!).add(run!);
  const { survivedAt, acknowledgedAt } = await find();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain("The store lost acknowledged writes");
  expect(errors[0]).toContain(`from ${instant(survivedAt!)} to ${instant(acknowledgedAt)}`);
  expect(errors[0]).toContain(`2 events and 1 run end: event ${events[1]}, event ${events[2]}, run end ${run}.`);
  const [alert] = await alertsIn(store);
  expect(alert).toMatchObject({ state: "open", fn: "", firstAt: survivedAt, about: "server 2" });
  const pairs = await pairsOf(store, alert!.id);
  const missing = pairs.filter(({ laterId }) => !laterId.includes(":")).map(({ laterId }) => laterId);
  expect(missing.sort()).toEqual([events[1], events[2], run].sort());
  expect(heard).toMatchObject([{ from: survivedAt, to: acknowledgedAt, missing: [events[1], events[2], run] }]);
  // Nothing is paused.
  await idem.send({ name: "order/paid", data: { n: 4 } });
  await clock.tick(1_000);
  expect((await idem.runs.list({ limit: 10 })).map(({ state }) => state)).toEqual(Array(4).fill("completed"));
});

test("what the heartbeat thread and other nodes find of the same incident joins one alert; each node logs it once", async () => {
  const { node, alertsIn, pairsOf, clock } = cluster();
  const nodes = [await node("a"), await node("b"), await node("c")];
  const [a, b, c] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  await Promise.all([a.find(), b.find(), a.find({ proof: "heartbeats of a's thread" })]);
  await clock.tick("30s");
  await c.find({ acknowledgedAt: 1, survivedAt: 0 });
  expect(nodes.map(({ errors }) => errors.length)).toEqual([1, 1, 1]);
  const alerts = await alertsIn(a.store);
  expect(alerts).toHaveLength(1);
  expect(alerts[0]).toMatchObject({ firstAt: 0 });
  expect(await pairsOf(a.store, alerts[0]!.id)).toHaveLength(8);
});

test("a later incident is an alert of its own, also on the same server and after the first was acknowledged", async () => {
  const { node, alertsIn, clock, platform } = cluster();
  const { store, errors, find } = await node("a");
  await find();
  const [first] = await alertsIn(store);
  await store.judge({ env: "default", id: first!.id, verdict: "acknowledge", until: null, by: "ada", note: "known" });
  await clock.tick("10m");
  await find({ proof: "later", acknowledgedAt: platform.wallMs() - 1_000 });
  await find({ proof: "elsewhere", server: "server 3" });
  expect((await alertsIn(store)).map(({ about, state }) => [about, state])).toEqual([
    ["server 3", "open"],
    ["server 2 #2", "open"],
    ["server 2", "acknowledged"],
  ]);
  expect(errors).toHaveLength(3);
});

test("when another server answers and no acknowledged id is missing, nothing is said; a lost one is found without a heartbeat", async () => {
  const { node, alertsIn, clock } = cluster();
  const { idem, store, history, errors } = await node("a");
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push((await idem.send({ name: "other/event", data: {} })).ids[0]!);
    await clock.tick(100);
  }
  const changed = async (server: string) => {
    history.report({ kind: "server-changed", server });
    await clock.tick(limits.heartbeatMs + 3_000);
  };
  await changed("server 2");
  expect([errors, await alertsIn(store)]).toEqual([[], []]);
  history.lost.add(ids[2]!);
  await changed("server 3");
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(`1 event and 0 run ends: event ${ids[2]}.`);
  const received = await Promise.all(ids.map(async (id) => (await store.reads.event("default", id))!.receivedAt));
  expect(await alertsIn(store)).toMatchObject([{ about: "server 3", firstAt: received[1], lastAt: received[2] }]);
});

test("a heartbeat that finds it first leaves nothing to look for when the server is seen to have changed", async () => {
  const { node, alertsIn, clock } = cluster();
  const { idem, store, history, errors, find } = await node("a");
  const { ids } = await idem.send({ name: "other/event", data: {} });
  history.lost.add(ids[0]!);
  history.report({ kind: "server-changed", server: "server 2" });
  await find();
  await clock.tick(limits.heartbeatMs + 3_000);
  expect([errors.length, (await alertsIn(store)).length]).toEqual([1, 1]);
});

test("events that an operator pruned, or that retention may have deleted, are not taken for lost", async () => {
  const { node, alertsIn, clock, platform } = cluster();
  const { idem, store, history, errors } = await node("a");
  const lose = async () => history.lost.add((await idem.send({ name: "other/event", data: {} })).ids[0]!);
  const changed = async () => {
    history.report({ kind: "server-changed", server: `server of ${platform.wallMs()}` });
    await clock.tick(limits.heartbeatMs + 3_000);
  };
  await lose();
  await clock.tick(1_000);
  const subject = instant(platform.wallMs());
  await store.audit({ env: "default", action: "prune-history", subject, reason: "", actor: "ada" });
  await changed();
  await lose();
  await clock.tick(limits.retentionMsMin);
  await changed();
  expect([errors, await alertsIn(store)]).toEqual([[], []]);
});

test("an alert that cannot be raised now is raised once the store answers", async () => {
  const { node, alertsIn, clock } = cluster();
  const { store, errors, find } = await node("a");
  const { raise } = store;
  const { errors: made } = await import("../model/errors.ts");
  let failures = 3;
  Object.assign(store, {
    raise: (input: Parameters<typeof raise>[0]) =>
      failures-- > 0 ? Promise.reject(made.STORE_UNAVAILABLE({ why: "it fails over again" })) : raise(input),
  });
  await find();
  await clock.tick("5s");
  expect([errors.length, (await alertsIn(store)).length]).toEqual([1, 1]);
});

test("a bounded number of acknowledged ids is remembered, of a minute before the last one", () => {
  const ids = new AcknowledgedIds(4);
  ids.events([{ id: "e1" }, { id: "e2" }], 1_000);
  ids.runEnd("r1", 30_000);
  expect(ids.list().map(({ id }) => id)).toEqual(["e1", "e2", "r1"]);
  // The store is away for a day: what was acknowledged before is still known.
  ids.events([{ id: "e3" }], 61_001);
  expect(ids.list().map(({ id }) => id)).toEqual(["r1", "e3"]);
  ids.events([{ id: "e4" }, { id: "e5" }], 61_002);
  ids.events([{ id: "e6" }], 61_002);
  expect(ids.list().map(({ id }) => id)).toEqual(["e3", "e4", "e5", "e6"]);
  ids.runEnd("r2", dayMs);
  expect(ids.list()).toEqual([{ id: "r2", at: dayMs, isRun: true }]);
});
