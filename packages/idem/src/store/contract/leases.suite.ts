// A lease gives one worker the right to move a run. Lost workers cost time, never a second outcome.
import { describe, expect, test } from "vitest";
import type { LeaseAnswer } from "../leases.ts";
import {
  end,
  env,
  eventWait,
  everyWrite,
  fn,
  forever,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  runJob,
  startPair,
  timeWait,
  value,
} from "./world.ts";

const ids = ({ jobs }: LeaseAnswer) => jobs.map(({ jobId }) => jobId);

export function leasesSuite(open: OpenStore): void {
  describe("leases", () => {
    test("a run keeps the fingerprint of the code that entered it first, born leased, leased or rerun", async () => {
      const world = await openWorld(open);
      const codeOf = async (runId: string) => (await world.store.reads.run(env, runId))!.code;
      await world.startLeased("r1", { code: "first" });
      await world.start("r2", { code: "nobody's" });
      expect([await codeOf("r1"), await codeOf("r2")]).toEqual(["first", null]);
      const { jobs } = await world.lease("w2", { codes: { [fn]: "second" } });
      expect(jobs.map((job) => job.kind === "run" && job.memo.run.code)).toEqual(["second"]);
      await world.advance("r1", { next: { kind: "suspend", dueAt: 1 } });
      await world.lease("w2", { codes: { [fn]: "third" } });
      expect([await codeOf("r1"), await codeOf("r2")]).toEqual(["first", "second"]);
      const again = { env, runId: "r1", newRunId: "r3", rank: 0, lane: null, cancelOn: [] };
      const answer = await world.store.rerun({ ...again, leaseTo: "w2", code: "third" });
      expect(answer).toMatchObject({ leased: { memo: { run: { code: "third" } } } });
      expect(await codeOf("r3")).toBe("third");
    });

    test("a wall clock that is suddenly hours ahead takes no lease from a living worker; a dead one is rescued all the same", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 20_000);
      await world.store.heartbeat("w2", 20_000);
      await world.start("r1", { leaseTo: "w1" });
      await world.start("r2", { leaseTo: "w2" });
      world.clock.stepWall(25 * 60 * 60 * 1_000);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 0 });
      expect(await world.store.heartbeat("w1", 20_000)).toMatchObject({ alive: true });
      for (let i = 0; i < 8; i++) {
        world.clock.advance(5_000);
        await world.store.heartbeat("w1", 20_000);
      }
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1 });
      expect((await world.tryAdvance("r1", {})).kind).toBe("advanced");
      expect((await world.store.reads.run(env, "r2"))!.state).toBe("queued");
    });

    test("a leased run comes with its memo and is nobody else's", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      world.clock.advance(5);
      const { jobs, now } = await world.lease("w1");
      expect(now).toBe(world.clock.wallMs());
      expect(jobs).toHaveLength(1);
      expect(runJob(jobs[0])).toEqual({
        kind: "run",
        jobId: "r1",
        fence: 1,
        lostWorkers: 0,
        memo: await world.memo("r1"),
      });
      expect(await world.run("r1")).toMatchObject({ state: "running", startedAt: now, createdAt: now - 5 });
      expect(ids(await world.lease("w2"))).toEqual([]);
    });

    test("of eight workers who ask at once one gets the job", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      const answers = await Promise.all(["1", "2", "3", "4", "5", "6", "7", "8"].map((worker) => world.lease(worker)));
      expect(answers.flatMap(ids)).toEqual(["r1"]);
    });

    test("a worker never gets runs of a function it lacks", async () => {
      const world = await openWorld(open);
      await world.start("r1", { fn: "shop-a" });
      await world.start("r2", { fn: "shop-b" });
      expect(ids(await world.lease("w1", { functions: ["shop-b", "shop-c"] }))).toEqual(["r2"]);
      expect(ids(await world.lease("w1", { functions: [] }))).toEqual([]);
      expect(await world.run("r1")).toMatchObject({ state: "queued" });
    });

    test("at most as many as asked for, the lowest rank first", async () => {
      const world = await openWorld(open);
      for (const [id, rank] of [
        ["r1", 30],
        ["r2", 10],
        ["r3", 20],
      ] as const)
        await world.start(id, { rank });
      expect(ids(await world.lease("w1", { max: 2 }))).toEqual(["r2", "r3"]);
      expect(ids(await world.lease("w1", { max: 2 }))).toEqual(["r1"]);
    });

    test("an answer brings no more bytes of outcomes than there is room for, in order, and the first one whatever it weighs where that is asked", async () => {
      const world = await openWorld(open);
      // Each has so many bytes of outcomes: a value's text is its letters and two quotes.
      const weights = { r1: 100, r2: 300, r3: 10, r4: 10 };
      for (const [i, [runId, bytes]] of Object.entries(weights).entries()) {
        await world.startLeased(runId, { rank: i });
        const letters = (count: number) => value("ü".repeat(1) + "a".repeat(count - 4));
        await world.advance(runId, { steps: [newStep("s1", { outcome: letters(bytes / 2) })] });
        await world.advance(runId, { steps: [newStep("s2", { outcome: letters(bytes / 2) })] });
      }
      await world.store.handBack("w1");
      const lease = (bytes: number, atLeastOne: boolean) => world.lease("w1", { room: { bytes, atLeastOne } });
      const nothing = await lease(99, false);
      expect([ids(nothing), nothing.isCut]).toEqual([[], true]);
      // The second does not fit, and nobody overtakes it.
      const first = await lease(120, false);
      expect([ids(first), first.isCut]).toEqual([["r1"], true]);
      const alone = await lease(0, true);
      expect([ids(alone), alone.isCut]).toEqual([["r2"], true]);
      const rest = await lease(20, false);
      expect([ids(rest), rest.isCut]).toEqual([["r3", "r4"], undefined]);
      expect(runJob(rest.jobs[0]).memo.steps).toHaveLength(2);
    });

    test("a timer is never early, not by a millisecond, and due at its time", async () => {
      const world = await openWorld(open);
      const dueAt = world.clock.wallMs() + 1_000;
      await world.start("r1", { dueAt });
      await world.start("r2", { dueAt: dueAt + 1_000 });
      world.clock.advance(999);
      expect(await world.lease()).toMatchObject({ jobs: [], nextDueAt: dueAt });
      world.clock.advance(1);
      const due = await world.lease();
      expect(ids(due)).toEqual(["r1"]);
      expect(due.nextDueAt).toBe(dueAt + 1_000);
    });

    test("without timers there is no next due time", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      expect((await world.lease()).nextDueAt).toBeNull();
    });

    test("the next due time counts timers of every function", async () => {
      const world = await openWorld(open);
      const dueAt = world.clock.wallMs() + 1_000;
      await world.start("r1", { dueAt, fn: "shop-other" });
      expect((await world.lease()).nextDueAt).toBe(dueAt);
    });

    test("the run that has waited longest can be asked for, and is no longer one that waits once it is leased", async () => {
      const world = await openWorld(open);
      const { reads } = world.store;
      const now = world.clock.wallMs();
      expect(await reads.oldestDue(env)).toBeNull();
      await world.start("r1", { dueAt: now + 20 });
      expect(await reads.oldestDue(env)).toBeNull();
      await world.start("r2", { rank: now + 5 });
      expect(await reads.oldestDue(env)).toBe(now + 5);
      await world.lease();
      expect(await reads.oldestDue(env)).toBeNull();
      world.clock.advance(50);
      expect(await reads.oldestDue(env)).toBe(now + 20);
    });

    test("priority never wakes a sleeper early, and a low one does not delay an idle queue", async () => {
      const world = await openWorld(open);
      await world.start("r1", { dueAt: world.clock.wallMs() + 1_000, rank: -1_000_000 });
      await world.start("r2", { rank: world.clock.wallMs() + 1_000_000 });
      expect(ids(await world.lease())).toEqual(["r2"]);
    });

    test("due timers go before the queue, the longest overdue first", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      await world.start("r1", { rank: -1 });
      await world.start("r2", { dueAt: now + 20 });
      await world.start("r3", { dueAt: now + 10 });
      world.clock.advance(20);
      expect(ids(await world.lease())).toEqual(["r3", "r2", "r1"]);
    });

    test("a clock that goes backwards fires nothing early and forgets nothing that is due", async () => {
      const world = await openWorld(open);
      const dueAt = world.clock.wallMs() + 1_000;
      await world.start("r1", { dueAt });
      world.clock.stepWall(-500);
      world.clock.advance(1_000);
      expect(ids(await world.lease())).toEqual([]);
      await world.start("r2", { dueAt });
      world.clock.advance(500);
      await world.store.reads.counts(env);
      await world.store.heartbeat("w1", 1_000);
      world.clock.stepWall(-60_000);
      // Due at the same instant: either may be first.
      expect([...ids(await world.lease())].sort()).toEqual(["r1", "r2"]);
    });

    test("the fence grows with each change of hands", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [timeWait("s", world.clock.wallMs() + 10)]);
      world.clock.advance(10);
      expect((await world.lease("w2")).jobs).toMatchObject([{ fence: 2 }]);
      expect(await world.tryAdvance("r1", { next: end("completed") })).toEqual({ kind: "fenced" });
      expect(await world.advance("r1", { worker: "w2", fence: 2, next: end("completed") })).toMatchObject({
        leased: false,
      });
    });

    test("a run is due at its retry or its earliest timeout, whichever is first", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      await world.startLeased("r1");
      await world.startLeased("r2");
      const waits = [timeWait("s", now + 200), timeWait("t", now + 100)];
      await world.advance("r1", { waits, next: { kind: "suspend", dueAt: now + 300 } });
      await world.advance("r2", { waits, next: { kind: "suspend", dueAt: now + 50 } });
      expect(await world.run("r1")).toMatchObject({ dueAt: now + 100 });
      expect(await world.run("r2")).toMatchObject({ dueAt: now + 50 });
    });
  });

  describe("workers", () => {
    test("a worker that keeps its heartbeat keeps its jobs", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      for (let n = 0; n < 5; n += 1) {
        world.clock.advance(1_000);
        expect(await world.store.heartbeat("w1", 1_000)).toEqual({ alive: true, now: world.clock.wallMs() });
        expect(await world.store.sweep({ max: 10, repair: true })).toEqual({
          rescued: 0,
          repaired: 0,
          reaped: 0,
          isCounted: true,
          queued: false,
        });
      }
      expect(await world.advance("r1", { next: end("completed") })).toMatchObject({ kind: "advanced" });
    });

    test("a job of a silent worker is rescued after its term, not before", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      world.clock.advance(1_000);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 0 });
      world.clock.advance(1);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1, queued: true });
      expect(await world.run("r1")).toMatchObject({ state: "queued" });
      expect((await world.lease("w2")).jobs).toMatchObject([{ jobId: "r1", fence: 3, lostWorkers: 1 }]);
    });

    test("a worker frozen beyond its term finds all its saves refused, and learns that it was lost", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      const runs = Array.from({ length: 10 }, (_, n) => `r${n}`);
      for (const id of runs) await world.startLeased(id);
      world.clock.advance(1_001);
      await world.store.sweep({ max: 100, repair: false });
      const late = () =>
        Promise.all(runs.map((id) => world.tryAdvance(id, { steps: [newStep("s", { outcome: value("late") })] })));
      expect(new Set((await late()).map(({ kind }) => kind))).toEqual(new Set(["fenced"]));
      await world.lease("w2");
      expect(new Set((await late()).map(({ kind }) => kind))).toEqual(new Set(["fenced"]));
      expect(await world.store.heartbeat("w1", 1_000)).toMatchObject({ alive: false });
      expect(await world.store.heartbeat("w1", 1_000)).toMatchObject({ alive: false });
      expect((await world.memo("r0")).steps).toEqual([]);
      const saved = await world.advance("r0", {
        worker: "w2",
        fence: 3,
        steps: [newStep("s", { outcome: value("right") })],
      });
      expect(saved.outcomes).toEqual([value("right")]);
    });

    test("what a lost worker saved before is in the memo of the next", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("s")] });
      world.clock.advance(1_001);
      await world.store.sweep({ max: 10, repair: false });
      expect(runJob((await world.lease("w2")).jobs[0]).memo.steps).toMatchObject([{ stepId: "s", worker: "w1" }]);
    });

    test("two who rescue at once rescue each job once", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      for (const id of ["r1", "r2", "r3"]) await world.startLeased(id);
      world.clock.advance(1_001);
      const sweeps = await Promise.all([1, 2, 3].map(() => world.store.sweep({ max: 10, repair: true })));
      expect(sweeps.reduce((sum, { rescued }) => sum + rescued, 0)).toBe(3);
      expect((await world.lease("w2")).jobs.map(({ fence }) => fence)).toEqual([3, 3, 3]);
    });

    test("a rescue is bounded, and the next one goes on where it stopped", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      for (const id of ["r1", "r2", "r3"]) await world.startLeased(id);
      world.clock.advance(1_001);
      expect(await world.store.sweep({ max: 2, repair: false })).toMatchObject({ rescued: 2 });
      expect(await world.store.heartbeat("w1", 1_000)).toMatchObject({ alive: false });
      expect(await world.store.sweep({ max: 2, repair: false })).toMatchObject({ rescued: 1 });
      expect(await world.store.sweep({ max: 2, repair: false })).toMatchObject({ rescued: 0, queued: false });
      expect(ids(await world.lease("w2")).sort()).toEqual(["r1", "r2", "r3"]);
    });

    test("lost workers are counted until the run gets on", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      let fence = 0;
      const lose = async (worker: string, save: boolean) => {
        await world.store.heartbeat(worker, 1_000);
        const job = runJob((await world.lease(worker)).jobs[0]);
        fence = job.fence;
        if (save) await world.advance("r1", { worker, fence, steps: [newStep(`step of ${worker}`)] });
        world.clock.advance(1_001);
        await world.store.sweep({ max: 10, repair: false });
        return job.lostWorkers;
      };
      expect([await lose("w1", false), await lose("w2", false), await lose("w3", true)]).toEqual([0, 1, 2]);
      expect([await lose("w4", false), await lose("w5", false)]).toEqual([1, 2]);
    });

    test("a worker that stops hands its jobs back at once, and can no longer save", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      await world.startWaiting("r2", [eventWait("s")]);
      await world.ingest([newEvent("e1", { name: "order/shipped" })], [], { leaseTo: "w1" });
      expect(await world.store.handBack("w1")).toEqual({ count: 2 });
      expect(await world.tryAdvance("r1", { steps: [newStep("s")] })).toEqual({ kind: "fenced" });
      const { jobs } = await world.lease("w2");
      expect(jobs.map(({ jobId, fence }) => [jobId, fence]).sort()).toEqual([
        ["deliver:e1", 3],
        ["r1", 3],
      ]);
      expect(jobs.map((job) => (job.kind === "run" ? job.lostWorkers : 0))).toEqual([0, 0]);
    });

    test("a suspended run belongs to no worker: its worker's loss does not touch it", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startLeased("r1");
      await world.advance("r1", { next: forever });
      world.clock.advance(1_001);
      expect(await world.store.sweep({ max: 10, repair: true })).toMatchObject({ rescued: 0, repaired: 0 });
      expect(await world.store.handBack("w1")).toEqual({ count: 0 });
    });

    test("a job whose delivery was lost with its worker is delivered by the next", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.startWaiting("r1", [eventWait("s")]);
      await world.ingest([newEvent("e1", { name: "order/shipped" })], [], { leaseTo: "w1" });
      world.clock.advance(1_001);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1, queued: true });
      const resume = (fence: number) => {
        const waits = [{ runId: "r1", stepId: "s" }];
        return world.store.resume({ env, jobId: "deliver:e1", fence, waits, outcome: value(fence) });
      };
      expect(await resume(1)).toEqual({ kind: "fenced" });
      expect((await world.lease("w2")).jobs).toMatchObject([{ kind: "deliver", fence: 3, event: { id: "e1" } }]);
      expect(await resume(3)).toMatchObject({ kind: "resumed", woken: [{ runId: "r1" }] });
      expect(await world.outcome("r1", "s")).toEqual(value(3));
    });

    test("a worker that leaves no job behind is not waited for", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      expect(await world.store.handBack("w1")).toEqual({ count: 0 });
      expect(await world.store.heartbeat("w2", 1_000)).toMatchObject({ alive: true });
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 0 });
    });

    test("what a worker leases after it handed its jobs back is rescued by the next sweep", async () => {
      const world = await openWorld(open);
      await world.store.heartbeat("w1", 1_000);
      await world.store.handBack("w1");
      expect(await world.store.heartbeat("w1", 1_000)).toMatchObject({ alive: false });
      // The call was on its way when its sender stopped.
      await world.ingest([newEvent("e1")], [startPair("r1", { leaseTo: "w1" })]);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1, queued: true });
      expect((await world.lease("w2")).jobs).toMatchObject([{ kind: "run", jobId: "r1" }]);
    });

    test("repair finds nothing to do in a store without defects", async () => {
      const world = await openWorld(open);
      await world.ingest([newEvent("e1")], [startPair("r1"), startPair("r2", { fn: "shop-b", leaseTo: "w1" })]);
      await world.startWaiting("r3", [eventWait("s")]);
      const rows = await world.rows();
      expect(await world.store.sweep({ max: 10, repair: true })).toMatchObject({ repaired: 0, queued: false });
      expect(await world.rows()).toEqual(rows);
    });

    everyWrite(
      open,
      "heartbeat",
      async ({ store }) =>
        () =>
          store.heartbeat("w1", 1_000),
    );
    everyWrite(
      open,
      "handBack",
      async (world) => {
        await world.startLeased("r1", { fn });
        return () => world.store.handBack("w1");
      },
      // The count is what this call handed back.
      null,
    );
    everyWrite(
      open,
      "sweep",
      async (world) => {
        await world.store.heartbeat("w1", 1_000);
        await world.startLeased("r1", { key: "1", windowMs: 500 });
        world.clock.advance(1_001);
        return () => world.store.sweep({ max: 10, repair: true });
      },
      // The counts are what this call did.
      null,
    );
  });
}
