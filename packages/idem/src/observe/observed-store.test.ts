import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";
import { testIdem } from "../testing/test-idem.ts";
import { observedStore, type StoreObserver } from "./observed-store.ts";

function recorded() {
  const told: string[] = [];
  const observer: StoreObserver = {
    accepted: (env, count) => void told.push(`${env} accepted ${count}`),
    decided: (_, kind, count) => void told.push(`decided ${kind}${count === 1 ? "" : ` ${count}`}`),
    suppressed: (_, layer) => void told.push(`suppressed ${layer}`),
    stepEnded: (_, { kind }, isError) => void told.push(`step ${kind} ${isError ? "error" : "value"}`),
    attemptFailed: () => void told.push("attempt failed"),
    runEnded: (_, __, state) => void told.push(`run ${state}`),
    ticked: (_, kind, lateMs) => void told.push(`ticked ${kind} ${lateMs}`),
  };
  return { told, observer };
}

test("a store whose operations cannot be changed is watched like any other, and only while somebody listens", async () => {
  const { told, observer } = recorded();
  const store = Object.freeze(Object.create(new MemoryStore(new ManualPlatform()))) as Store;
  let isHeard = false;
  const watched = observedStore(store, observer, () => isHeard);
  const event = { callerId: null, windowMs: 0, name: "a", data: "{}", ts: 0, extra: null, sourceRunId: null };
  const send = (id: string) =>
    watched.ingest({ env: "e", registration: null, events: [{ ...event, id }], pairs: [], leaseTo: null });
  await send("01");
  expect(told).toEqual([]);
  isHeard = true;
  await send("02");
  expect(told).toEqual(["e accepted 1"]);
  expect((await watched.reads.events("e", { limit: 9 })).map(({ id }) => id)).toEqual(["02", "01"]);
});

test("what was committed is told once, by kind and layer", async () => {
  const { told, observer } = recorded();
  const { client, clock, store } = testIdem();
  const idem = client({ store: observedStore(store as Store, observer) });
  let tries = 0;
  idem.createFunction({ id: "pay", idempotency: "event.data.order" }, { event: "order/paid" }, ({ step }) =>
    step.run("charge", () => {
      if (tries++ === 0) throw new Error("later");
      return 1;
    }),
  );
  await idem.start();
  await idem.send({ name: "order/paid", id: "a", data: { order: 7 } });
  await idem.idle();
  await clock.advance("1m");
  expect(told).toEqual(["default accepted 1", "decided started", "attempt failed", "step run value", "run completed"]);
  told.length = 0;
  await idem.send({ name: "order/paid", id: "a", data: { order: 7 } });
  await idem.send({ name: "order/paid", id: "b", data: { order: 7 } });
  expect(told).toEqual([
    "default accepted 1",
    "suppressed event-id",
    "decided duplicate-event",
    "default accepted 1",
    "decided duplicate-key",
    "suppressed function-key",
  ]);
  await idem.stop();
});

test("a worker that lost its run is told as suppressed, and every other operation goes through unchanged", async () => {
  const { told, observer } = recorded();
  const inner = new MemoryStore(new ManualPlatform());
  const store = observedStore(inner, observer);
  const nothing = { steps: [], attempts: [], waits: [], ingest: null, seen: 0 };
  const next = { kind: "continue", collect: false } as const;
  const ids = { env: "default", worker: "w", runId: "r", jobId: "r", fence: 1 };
  expect(await store.advance({ ...ids, ...nothing, next } as never)).toMatchObject({ kind: "fenced" });
  expect(told).toEqual(["suppressed fence"]);
  expect(store.reads).toBe(inner.reads);
  expect(store.heartbeat).toBe(store.heartbeat);
  expect(await store.heartbeat("w", 1_000)).toMatchObject({ alive: true });
});

test("events that waited are told again when they are decided, and runs that made room as ended", async () => {
  const { told, observer } = recorded();
  const { client, clock, store } = testIdem();
  const idem = client({ store: observedStore(store as Store, observer) });
  idem.createFunction({ id: "last", debounce: { period: "10s" } }, { event: "a/typed" }, async () => null);
  idem.createFunction(
    { id: "many", idempotency: "event.data.n", batchEvents: { maxSize: 3, timeout: "1m" } },
    { event: "a/sold" },
    async () => null,
  );
  idem.createFunction({ id: "alone", singleton: { mode: "cancel" } }, { event: "a/sync" }, ({ step }) =>
    step.sleep("long", "1d"),
  );
  await idem.start();
  const taken = () => told.splice(0).filter((line) => !line.includes("accepted"));
  for (let i = 0; i < 3; i++) await idem.send({ name: "a/typed" });
  expect(taken()).toEqual(["decided debounced", "decided debounced", "decided debounced"]);
  await clock.advance("10s");
  expect(taken()).toEqual(["decided started", "run completed"]);
  for (const n of [1, 1, 2]) await idem.send({ name: "a/sold", data: { n } });
  await idem.idle();
  expect(taken()).toEqual([
    "decided batched",
    "decided batched",
    "decided started",
    "decided started",
    "decided duplicate-key",
    "suppressed function-key",
    "run completed",
  ]);
  for (let i = 0; i < 2; i++) await idem.send({ name: "a/sync" });
  expect(taken()).toEqual(["decided started", "decided started", "run cancelled"]);
  await idem.stop();
});

test("a tick is told once, with how late it came; who asks second is told nothing", async () => {
  const { told, observer } = recorded();
  const platform = new ManualPlatform();
  const store = observedStore(new MemoryStore(platform), observer);
  const [env, fn, cron] = ["default", "shop-nightly", "* * * * *"];
  await store.register({ env, app: "shop", functions: [{ fn, id: "nightly", config: "{}", crons: [cron] }] });
  const tickAt = platform.wallMs() + 60_000;
  platform.clock.advance(61_500);
  const nothing = { callerId: null, windowMs: 0, name: "tick", data: "{}", ts: 0, extra: null, sourceRunId: null };
  const pair = { kind: "missed", event: 0, fn, reason: "late" } as const;
  const ticks = [{ fn, cron, tickAt, event: { id: "t1", ...nothing }, pair, speaksFor: null }];
  for (let i = 0; i < 2; i++) await store.tick({ env, registration: null, ticks, leaseTo: null });
  expect(told).toEqual(["default accepted 1", "decided missed", "ticked missed 1500"]);
});
