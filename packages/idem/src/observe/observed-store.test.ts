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
    decided: (_, kind) => void told.push(`decided ${kind}`),
    suppressed: (_, layer) => void told.push(`suppressed ${layer}`),
    stepEnded: (_, { kind }, isError) => void told.push(`step ${kind} ${isError ? "error" : "value"}`),
    attemptFailed: () => void told.push("attempt failed"),
    runEnded: (_, __, state) => void told.push(`run ${state}`),
  };
  return { told, observer };
}

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
