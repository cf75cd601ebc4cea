// A parked run is open and holds nothing but its key. Nothing makes it due again but a person, or the time its whole life may take.
import { describe, expect, test } from "vitest";
import type { ParkRun } from "../advance.ts";
import {
  end,
  env,
  eventWait,
  everyWrite,
  fn,
  forever,
  laneOf,
  newAttempt,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  runJob,
  signalWait,
  startFlow,
  startPair,
  timeWait,
  value,
  type World,
} from "./world.ts";

const park = (dueAt: number | null = null): ParkRun => ({
  kind: "park",
  why: { kind: "entries", reason: "entered five times without an outcome" },
  dueAt,
});

const byHand = { reason: "the library was updated", actor: "ada" };
const release = ({ store }: World, runId: string) => store.unpark({ env, runId, byHand });
const leased = async (world: World, worker = "w2") => (await world.lease(worker)).jobs.map(({ jobId }) => jobId);

export function parkedSuite(open: OpenStore): void {
  describe("parked runs", () => {
    test("a parked run is open, says why, and is leased by nobody however late it gets", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const at = world.clock.wallMs();
      expect(await world.advance("r1", { next: park() })).toMatchObject({ kind: "advanced", leased: false });
      world.clock.advance(365 * 24 * 60 * 60 * 1_000);
      expect(await leased(world)).toEqual([]);
      expect(await world.run("r1")).toMatchObject({
        state: "parked",
        result: null,
        endedAt: null,
        parked: { kind: "entries", reason: "entered five times without an outcome", at },
      });
      expect(await world.store.reads.oldestDue(env)).toBeNull();
    });

    test("what a pass brings with it is kept when it parks its run", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("s")], attempts: [newAttempt("t", 1)], next: park() });
      expect(await world.memo("r1")).toMatchObject({
        run: { state: "parked" },
        steps: [{ stepId: "s" }],
        attempts: [{ stepId: "t" }],
      });
    });

    test("whoever lost its lease parks nothing", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      expect(await world.tryAdvance("r1", { fence: 7, next: park() })).toEqual({ kind: "fenced" });
      expect(await world.run("r1")).toMatchObject({ state: "running", parked: null });
    });

    test("events, signals, timeouts and news end its waits, and none of them makes it due", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const soon = world.clock.wallMs() + 10;
      const waits = [eventWait("event"), signalWait("signal", "go"), timeWait("time", soon)];
      await world.advance("r1", { waits, next: park() });
      expect(await world.store.signal(env, "go", value("gone"))).toMatchObject({ kind: "resumed" });
      await world.ingest([newEvent("e1", { name: "order/shipped" })]);
      const { jobs } = await world.lease("w2");
      expect(jobs).toMatchObject([{ kind: "deliver" }]);
      await world.store.resume({
        env,
        jobId: jobs[0]!.jobId,
        fence: jobs[0]!.fence,
        waits: [{ runId: "r1", stepId: "event" }],
        outcome: value("shipped"),
      });
      world.clock.advance(20);
      expect(await leased(world)).toEqual([]);
      expect(await world.run("r1")).toMatchObject({ state: "parked" });
      await release(world, "r1");
      const { memo } = runJob((await world.lease("w2")).jobs[0]);
      expect(memo.steps.map(({ stepId }) => stepId)).toEqual(["signal", "event", "time"]);
    });

    test("news does not keep a run from being parked", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [signalWait("s", "go")] });
      await world.store.signal(env, "go", value("gone"));
      expect(await world.advance("r1", { next: park() })).toMatchObject({ leased: false });
      expect(await world.run("r1")).toMatchObject({ state: "parked" });
    });

    test("it holds no slot of a limit, and stands in line again when it is let go on", async () => {
      const world = await openWorld(open);
      const lane = laneOf({ a: 1 });
      const caps = { [fn]: lane.caps };
      await world.startLeased("r1", { flow: startFlow({ lane }) });
      await world.start("r2", { flow: startFlow({ lane }) });
      expect((await world.lease("w2", { caps })).jobs).toEqual([]);
      expect(await world.advance("r1", { next: park() })).toMatchObject({ freed: true });
      expect((await world.lease("w2", { caps })).jobs).toMatchObject([{ jobId: "r2" }]);
      await release(world, "r1");
      expect((await world.lease("w2", { caps })).jobs).toEqual([]);
      await world.advance("r2", { worker: "w2", next: end("completed") });
      expect((await world.lease("w2", { caps })).jobs).toMatchObject([{ jobId: "r1" }]);
    });

    test("it keeps its key and its singleton", async () => {
      const world = await openWorld(open);
      const flow = startFlow({ singleton: { key: "7", mode: "skip" } });
      await world.startLeased("r1", { key: "1", hold: true, windowMs: 10, flow });
      await world.advance("r1", { next: park() });
      world.clock.advance(60_000);
      await world.store.sweep({ max: 10, repair: true });
      expect(await world.start("r2", { key: "1" })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      expect(await world.start("r3", { flow })).toMatchObject({ kind: "singleton-skipped", runId: "r1" });
    });

    test("released, it is due at once, its lost workers are forgotten, and the audit says who let it go on and why", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      world.clock.advance(1_001);
      await world.store.sweep({ max: 10, repair: false });
      await world.store.heartbeat("w2", 1_000);
      expect((await world.lease("w2")).jobs).toMatchObject([{ fence: 3, lostWorkers: 1 }]);
      await world.advance("r1", { worker: "w2", fence: 3, next: park() });
      const from = { kind: "entries", reason: "entered five times without an outcome" };
      expect(await release(world, "r1")).toEqual({ kind: "released", fn, from });
      expect(await world.run("r1")).toMatchObject({ state: "queued", parked: null, lost: null });
      expect(runJob((await world.lease("w2")).jobs[0])).toMatchObject({ fence: 4, lostWorkers: 0, released: from });
      expect((await world.store.reads.auditPage(env, { limit: 10 })).rows).toMatchObject([
        { action: "release-run", subject: "r1", actor: "ada", reason: "the library was updated" },
      ]);
    });

    test("only a parked run is released: others are told their state", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      expect(await release(world, "r1")).toEqual({ kind: "not-parked", state: "running" });
      await world.advance("r1", { next: forever });
      expect(await release(world, "r1")).toEqual({ kind: "not-parked", state: "waiting" });
      expect(await release(world, "r9")).toEqual({ kind: "unknown" });
      expect((await world.store.reads.auditPage(env, { limit: 10 })).rows).toEqual([]);
    });

    test("a person may cancel it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: "1" });
      await world.advance("r1", { next: park() });
      const cancelled = await world.store.cancel({ env, runId: "r1", result: '"no"', releaseKey: true, ingest: null });
      expect(cancelled).toMatchObject({ kind: "cancelled" });
      expect(await world.run("r1")).toMatchObject({ state: "cancelled", parked: null, lost: null });
      expect(await release(world, "r1")).toEqual({ kind: "not-parked", state: "cancelled" });
    });

    test("at the end of the time its whole life may take it is leased all the same, and still says that it is parked", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { next: park(world.clock.wallMs() + 100) });
      world.clock.advance(99);
      expect(await leased(world)).toEqual([]);
      world.clock.advance(1);
      expect(runJob((await world.lease("w2")).jobs[0])).toMatchObject({
        memo: { run: { state: "running", parked: { kind: "entries" } } },
      });
    });

    test("parked runs are counted and listed apart from those that wait", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.startWaiting("r2", [eventWait("s")]);
      await world.advance("r1", { next: park() });
      const { reads } = world.store;
      const counted = { queued: 0, running: 0, waiting: 1, parked: 1 };
      expect(await reads.counts(env)).toMatchObject({ ...counted, byFunction: { [fn]: { ...counted, due: 0 } } });
      const ids = async (state: "parked" | "waiting") => [
        (await reads.runs(env, { state, limit: 10 })).map(({ id }) => id),
        (await reads.runPage(env, { state, limit: 10, examinedMax: 100 })).rows.map(({ id }) => id),
      ];
      expect(await ids("parked")).toEqual([["r1"], ["r1"]]);
      expect(await ids("waiting")).toEqual([["r2"], ["r2"]]);
      const opened = await reads.runPage(env, { isOpen: true, limit: 10, examinedMax: 100 });
      expect(opened.rows.map(({ id, parked }) => [id, parked?.kind])).toEqual([
        ["r2", undefined],
        ["r1", "entries"],
      ]);
    });

    test("housekeeping leaves it as it is", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      await world.advance("r1", { next: park() });
      world.clock.advance(1_001);
      const rows = await world.rows();
      await world.store.sweep({ max: 10, repair: true });
      await world.store.handBack("w1");
      expect(await world.rows()).toEqual(rows);
    });

    everyWrite(
      open,
      "unpark",
      async (world) => {
        await world.startLeased("r1");
        await world.advance("r1", { next: park() });
        return () => release(world, "r1");
      },
      // The second caller finds it released.
      null,
    );
  });

  describe("entries without an outcome", () => {
    const lose = async (world: World, worker: string) => {
      await world.store.heartbeat(worker, 1_000);
      const job = runJob((await world.lease(worker)).jobs[0]);
      world.clock.advance(1_001);
      await world.store.sweep({ max: 10, repair: false });
      return job;
    };

    test("a run says how many workers it lost since it got on, which was the last, and when", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      expect((await world.run("r1")).lost).toBeNull();
      await lose(world, "w1");
      await lose(world, "w2");
      expect((await world.run("r1")).lost).toEqual({ count: 2, worker: "w2", at: world.clock.wallMs() });
    });

    test("a step, a failed attempt and a wait are each an outcome: the count begins anew", async () => {
      const world = await openWorld(open);
      const patches = {
        r1: { steps: [newStep("s")] },
        r2: { attempts: [newAttempt("s", 1)] },
        r3: { waits: [eventWait("s")] },
        r4: {},
      };
      await world.store.heartbeat("w1", 1_000);
      await world.ingest(
        [newEvent("e1")],
        Object.keys(patches).map((runId) => startPair(runId, { fn: `shop-${runId}`, leaseTo: "w1" })),
      );
      world.clock.advance(1_001);
      await world.store.sweep({ max: 10, repair: false });
      await world.store.heartbeat("w2", 1_000);
      const functions = Object.keys(patches).map((runId) => `shop-${runId}`);
      expect((await world.lease("w2", { functions })).jobs).toHaveLength(4);
      for (const [runId, patch] of Object.entries(patches)) {
        await world.advance(runId, { ...patch, worker: "w2", fence: 3, next: forever });
      }
      const lost = await Promise.all(Object.keys(patches).map(async (id) => (await world.run(id)).lost?.count ?? 0));
      expect(lost).toEqual([0, 0, 0, 1]);
    });

    test("what it was put off to is told to whoever leases it next, until another worker is lost or it gets on", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      await lose(world, "w1");
      await world.store.heartbeat("w2", 1_000_000);
      const first = runJob((await world.lease("w2")).jobs[0]);
      expect(first.enterAt).toBeUndefined();
      const enterAt = world.clock.wallMs() + 500;
      await world.advance("r1", {
        worker: "w2",
        fence: first.fence,
        next: { kind: "suspend", dueAt: enterAt, enterAt },
      });
      world.clock.advance(499);
      expect(await leased(world)).toEqual([]);
      world.clock.advance(1);
      const job = await lose(world, "w3");
      expect(job).toMatchObject({ enterAt, lostWorkers: 1 });
      const next = runJob((await world.lease("w2")).jobs[0]);
      expect(next).toMatchObject({ lostWorkers: 2 });
      expect(next.enterAt).toBeUndefined();
    });
  });
}
