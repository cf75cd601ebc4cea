// Two environments share a store and nothing else: the same ids and keys never meet, in any operation.
import { describe, expect, test } from "vitest";
import {
  end,
  env,
  eventWait,
  forever,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  signalWait,
  startPair,
  value,
} from "./world.ts";

const other = "other";

export function environmentsSuite(open: OpenStore): void {
  describe("environments", () => {
    test("equal event ids, caller's ids, keys and run ids start a run in each environment", async () => {
      const world = await openWorld(open);
      for (const at of [env, other]) {
        const { decisions } = await world.ingest(
          [newEvent("e1", { callerId: "id" })],
          [startPair("r1", { key: '"k"', leaseTo: "w1" })],
          { env: at },
        );
        expect(decisions).toMatchObject([{ kind: "started", runId: "r1" }]);
        expect(await world.store.reads.claims(at, { limit: 10 })).toMatchObject([{ asked: 1 }, { asked: 1 }]);
      }
    });

    test("functions and registrations are an environment's own", async () => {
      const { store } = await openWorld(open);
      await store.register({ env, app: "a", functions: [{ fn: "x", id: "x", config: "{}", crons: [] }] });
      const answer = await store.register({
        env: other,
        app: "b",
        functions: [{ fn: "x", id: "x", config: "{}", crons: [] }],
      });
      expect(answer).toEqual({ kind: "registered", registration: 1, changed: true });
      await store.register({ env, app: "a", functions: [] });
      expect(await store.reads.functions(other)).toMatchObject({ registration: 1, functions: [{ fn: "x", app: "b" }] });
    });

    test("those that have functions can be listed", async () => {
      const { store } = await openWorld(open);
      expect(await store.reads.environments()).toEqual([]);
      const functions = [{ fn: "x", id: "x", config: "{}", crons: [] }];
      for (const at of [other, env]) await store.register({ env: at, app: "a", functions });
      expect(await store.reads.environments()).toEqual([env, other].sort());
      await store.register({ env: other, app: "a", functions: [] });
      expect(await store.reads.environments()).toEqual([env]);
    });

    test("what happens to a run changes nothing of its namesake", async () => {
      const world = await openWorld(open);
      const { store } = world;
      for (const at of [env, other]) {
        await world.ingest([newEvent("e1", { callerId: "id" })], [startPair("r1", { key: '"k"', leaseTo: "w1" })], {
          env: at,
        });
        await world.advance("r1", { env: at, waits: [signalWait("s", "sig"), eventWait("t")] });
      }
      const untouched = await world.rows(other);

      await store.signal(env, "sig", value(1));
      await world.ingest([newEvent("e2", { name: "order/shipped" })], [], { leaseTo: "w1" });
      const waits = [{ runId: "r1", stepId: "t" }];
      await store.resume({ env, jobId: "deliver:e2", fence: 1, waits, outcome: value(2) });
      await world.advance("r1", { steps: [newStep("u")], next: end("completed") });
      await store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null });
      await world.lease("w2");
      await store.cancel({ env, runId: "r2", result: "null", releaseKey: true, ingest: null });
      await world.releaseByHand('"k"');
      expect(await world.rows(other)).toEqual(untouched);

      expect(await store.signal(other, "sig", value(3))).toMatchObject({ kind: "resumed" });
      expect(await store.resume({ env: other, jobId: "deliver:e2", fence: 1, waits, outcome: value(4) })).toEqual({
        kind: "fenced",
      });
    });

    test("an event is delivered only to waits of its environment", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      const answer = await world.ingest([newEvent("e1", { name: "order/shipped" })], [], { env: other, leaseTo: "w1" });
      expect(answer.leased).toEqual([]);
      expect(await world.store.reads.waitPaths(other, "order/shipped")).toEqual([]);
      expect(await world.store.reads.waitCandidates(other, "e1", [])).toEqual([]);
      expect(await world.store.reads.waitCandidates(env, "e1", [])).toEqual([]);
    });

    test("a worker leases jobs and learns timers of the environment it asks for only", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      await world.ingest([newEvent("e2")], [startPair("r2", { dueAt: world.clock.wallMs() + 10 })], { env: other });
      const inOther = await world.lease("w1", { env: other });
      expect(inOther).toMatchObject({ jobs: [], nextDueAt: world.clock.wallMs() + 10 });
      expect((await world.lease("w1")).nextDueAt).toBeNull();
      expect(await world.store.reads.counts(other)).toMatchObject({
        queued: 0,
        running: 0,
        waiting: 1,
        dueByFunction: {},
      });
    });

    test("a fence of one environment moves no run of another", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      expect(await world.tryAdvance("r1", { env: other, next: end("completed") })).toEqual({ kind: "fenced" });
      expect(await world.store.reads.run(other, "r1")).toBeNull();
    });

    test("claims, settlements and releases of one environment are unknown in another", async () => {
      const { store } = await openWorld(open);
      const ask = { scope: "s", key: "k", fingerprint: null, leaseMs: 1_000, windowMs: 1_000 };
      expect(await store.claim({ ...ask, env, token: "t1" })).toMatchObject({ kind: "fresh", fence: 1 });
      expect(await store.settle(other, "s", "k", 1, "1")).toBe("lost");
      expect(await store.release({ env: other, scope: "s", key: "k", fence: null, reason: "" })).toBe("unknown");
      expect(await store.claim({ ...ask, env: other, token: "t2" })).toMatchObject({ kind: "fresh", fence: 1 });
      expect(await store.settle(env, "s", "k", 1, "1")).toBe("settled");
      expect(await store.claim({ ...ask, env: other, token: "t3" })).toMatchObject({ kind: "in-flight" });
    });

    test("a lost worker's jobs are rescued in every environment", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      for (const at of [env, other]) {
        await world.ingest([newEvent("e1")], [startPair("r1", { leaseTo: "w1" })], { env: at });
      }
      world.clock.advance(1_001);
      expect(await world.store.sweep({ max: 10, repair: true })).toMatchObject({ rescued: 2 });
      for (const at of [env, other]) expect((await world.lease("w2", { env: at })).jobs).toHaveLength(1);
    });

    test("a worker hands back its jobs of every environment", async () => {
      const world = await openWorld(open);
      for (const at of [env, other]) {
        await world.ingest([newEvent("e1")], [startPair("r1", { leaseTo: "w1" })], { env: at });
      }
      await world.advance("r1", { next: forever });
      expect(await world.store.handBack("w1")).toEqual({ count: 1 });
      expect((await world.lease("w2", { env: other })).jobs).toHaveLength(1);
    });
  });
}
