// Limits on how many runs are at work at once. A slot is held by a leased run and by nobody else.
import { describe, expect, test } from "vitest";
import type { LaneCaps, LaneUse } from "../../flow/lane.ts";
import type { StartPair } from "../ingest.ts";
import type { LeaseAnswer } from "../leases.ts";
import {
  end,
  env,
  eventWait,
  everyWrite,
  fn,
  forever,
  laneOf,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  startFlow,
  startPair,
  timeWait,
  type World,
} from "./world.ts";

export const ids = ({ jobs }: LeaseAnswer) => jobs.map(({ jobId }) => jobId);
export const inLane = (lane: LaneUse, over: Partial<StartPair> = {}): Partial<StartPair> => ({
  flow: startFlow({ lane }),
  ...over,
});
export const capsOf = (...slots: number[]): Record<string, LaneCaps> => ({ [fn]: { slots, throttle: null } });

const usedOf = async (world: World, slot: string) =>
  (await world.store.reads.limitUses(env, 100)).find(({ id }) => id === slot)?.used ?? 0;

export function lanesSuite(open: OpenStore): void {
  describe("lanes", () => {
    test("no more runs are at work than the limit allows, and the next begins when one ends", async () => {
      const world = await openWorld(open);
      for (const id of ["r1", "r2", "r3"]) await world.start(id, inLane(laneOf({ all: 2 })));
      const caps = capsOf(2);
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r1", "r2"]);
      expect(ids(await world.lease("w2", { caps }))).toEqual([]);
      expect(await world.store.reads.limitUses(env, 10)).toEqual([{ id: "all", used: 2, waiting: 1 }]);
      expect(await world.run("r3")).toMatchObject({ state: "queued", startedAt: null });
      expect(await world.advance("r1", { next: end("completed") })).toMatchObject({ freed: true });
      expect(ids(await world.lease("w2", { caps }))).toEqual(["r3"]);
    });

    test("a run that sleeps or waits holds no slot, and stands in line again when it wakes", async () => {
      const world = await openWorld(open);
      const caps = capsOf(1);
      const dueAt = world.clock.wallMs() + 10;
      for (const id of ["r1", "r2"]) await world.start(id, inLane(laneOf({ all: 1 })));
      await world.lease("w1", { caps });
      expect(await world.advance("r1", { waits: [timeWait("s", dueAt)], next: forever })).toMatchObject({
        freed: true,
      });
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r2"]);
      world.clock.advance(10);
      expect(ids(await world.lease("w1", { caps }))).toEqual([]);
      await world.advance("r2", { next: end("completed") });
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r1"]);
    });

    test("a limit that only sleeping runs could want is neither used nor waited for", async () => {
      const world = await openWorld(open);
      await world.start("r1", inLane(laneOf({ all: 1 }), { leaseTo: "w1" }));
      await world.advance("r1", { waits: [eventWait("s")], next: forever });
      expect(await world.store.reads.limitUses(env, 10)).toEqual([]);
    });

    test("a sleeper in a lane is never early, whatever its priority, and a low one does not delay an idle lane", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      const lane = laneOf({ all: 10 });
      await world.start("r1", inLane(lane, { dueAt: now + 1_000, rank: now - 1_000_000 }));
      await world.start("r2", inLane(lane, { rank: now + 1_000_000 }));
      const first = await world.lease("w1", { caps: capsOf(10) });
      expect([ids(first), first.nextDueAt]).toEqual([["r2"], now + 1_000]);
      world.clock.advance(1_000);
      expect(ids(await world.lease("w1", { caps: capsOf(10) }))).toEqual(["r1"]);
    });

    test("of two limits both must have room, and both are held", async () => {
      const world = await openWorld(open);
      const caps = capsOf(1, 2);
      await world.start("a1", inLane(laneOf({ a: 1, all: 2 })));
      await world.start("a2", inLane(laneOf({ a: 1, all: 2 })));
      await world.start("b1", inLane(laneOf({ b: 1, all: 2 })));
      await world.start("c1", inLane(laneOf({ c: 1, all: 2 })));
      expect(ids(await world.lease("w1", { caps })).sort()).toEqual(["a1", "b1"]);
      expect(ids(await world.lease("w1", { caps }))).toEqual([]);
      await world.advance("b1", { next: end("completed") });
      // `a` is still full, so the free place of `all` goes to the one who can use it.
      expect(ids(await world.lease("w1", { caps }))).toEqual(["c1"]);
      await world.advance("a1", { next: end("completed") });
      expect(ids(await world.lease("w1", { caps }))).toEqual(["a2"]);
    });

    test("a slot is shared by all functions and environments that name it", async () => {
      const world = await openWorld(open);
      const [mine, theirs] = [laneOf({ shared: 1 }), laneOf({ shared: 1 }, { fn: "shop-other" })];
      await world.start("r1", inLane(mine));
      await world.start("r2", inLane(theirs, { fn: "shop-other" }));
      await world.ingest([newEvent("e1")], [startPair("r3", inLane(mine))], { env: "elsewhere" });
      const caps = { ...capsOf(1), "shop-other": { slots: [1], throttle: null } };
      const both = { caps, functions: [fn, "shop-other"] };
      const first = ids(await world.lease("w1", both));
      expect(first).toHaveLength(1);
      expect(ids(await world.lease("w1", { ...both, env: "elsewhere" }))).toEqual([]);
      expect(await world.advance(first[0]!, { next: end("completed") })).toMatchObject({ freed: true });
      expect(ids(await world.lease("w1", { ...both, env: "elsewhere" }))).toEqual(["r3"]);
      expect(ids(await world.lease("w1", both))).toEqual([]);
    });

    test("nobody is kept from a free slot by one in line whose function no worker has", async () => {
      const world = await openWorld(open);
      const caps = { ...capsOf(1), "shop-b": { slots: [1], throttle: null }, "shop-c": { slots: [1], throttle: null } };
      await world.start("r1", inLane(laneOf({ shared: 1 })));
      await world.lease("w1", { caps });
      for (const name of ["shop-b", "shop-c"]) {
        await world.start(`run of ${name}`, inLane(laneOf({ shared: 1 }, { fn: name }), { fn: name }));
        expect(ids(await world.lease("w1", { caps, functions: [name] }))).toEqual([]);
      }
      await world.advance("r1", { next: end("completed") });
      expect(ids(await world.lease("w1", { caps, functions: ["shop-c"] }))).toEqual(["run of shop-c"]);
    });

    test("a cap that was lowered stops nobody, and nobody begins before use is below it; a raised one counts at once", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3, 4]) await world.start(`r${n}`, inLane(laneOf({ all: 3 })));
      expect(ids(await world.lease("w1", { caps: capsOf(3) }))).toHaveLength(3);
      expect(ids(await world.lease("w1", { caps: capsOf(1) }))).toEqual([]);
      for (const id of ["r1", "r2"]) {
        await world.advance(id, { next: end("completed") });
        expect(ids(await world.lease("w1", { caps: capsOf(1) }))).toEqual([]);
      }
      expect(ids(await world.lease("w1", { caps: capsOf(2) }))).toEqual(["r4"]);
    });

    test("a limit that the configuration no longer has keeps nobody", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await world.start(`r${n}`, inLane(laneOf({ all: 1 })));
      expect(ids(await world.lease("w1", { caps: { [fn]: { slots: [], throttle: null } } }))).toEqual(["r1", "r2"]);
    });

    test("the slots of a lost worker come back with its jobs, once, whoever rescues", async () => {
      const world = await openWorld(open);
      const caps = capsOf(2);
      await world.store.heartbeat("w1", 1_000);
      for (const n of [1, 2, 3, 4]) await world.start(`r${n}`, inLane(laneOf({ all: 2 })));
      await world.lease("w1", { caps });
      world.clock.advance(1_001);
      const sweeps = await Promise.all([1, 2, 3].map(() => world.store.sweep({ max: 1, repair: false })));
      expect(sweeps.reduce((sum, { rescued }) => sum + rescued, 0)).toBe(2);
      expect(await usedOf(world, "all")).toBe(0);
      const again = await world.lease("w2", { caps });
      expect(again.jobs).toHaveLength(2);
      expect(await world.tryAdvance("r1", { next: end("completed") })).toEqual({ kind: "fenced" });
      expect(ids(await world.lease("w2", { caps }))).toEqual([]);
    });

    test("a worker that stops gives its slots back at once", async () => {
      const world = await openWorld(open);
      await world.start("r1", inLane(laneOf({ all: 1 }), { leaseTo: "w1" }));
      expect(await world.store.handBack("w1")).toEqual({ count: 1 });
      expect(ids(await world.lease("w2", { caps: capsOf(1) }))).toEqual(["r1"]);
    });

    test("cancelling a run at work frees its slot for those in line; cancelling one in line frees nothing", async () => {
      const world = await openWorld(open);
      const cancel = (runId: string) =>
        world.store.cancel({ env, runId, result: "null", releaseKey: false, ingest: null });
      for (const n of [1, 2, 3]) await world.start(`r${n}`, inLane(laneOf({ all: 1 })));
      await world.lease("w1", { caps: capsOf(1) });
      expect(await cancel("r2")).toMatchObject({ kind: "cancelled", freed: false });
      expect(await cancel("r1")).toMatchObject({ kind: "cancelled", freed: true });
      expect(ids(await world.lease("w1", { caps: capsOf(1) }))).toEqual(["r3"]);
    });

    test("of many workers who ask at once no more get a run than there are slots, through losses and ends", async () => {
      const world = await openWorld(open);
      const keys = Array.from({ length: 40 }, (_, n) => n);
      const limited = keys.flatMap((k) =>
        [0, 1, 2].map((n) => ({ id: `r${k}-${n}`, lane: laneOf({ [`k${k}`]: 2, all: 25 }) })),
      );
      await world.ingest(
        limited.map(({ id }) => newEvent(`event of ${id}`)),
        limited.map(({ id, lane }, event) => startPair(id, inLane(lane, { event }))),
      );
      const caps = capsOf(2, 25);
      const within = async () => {
        for (const { id, used } of await world.store.reads.limitUses(env, 1_000)) {
          expect(used, id).toBeLessThanOrEqual(id === "all" ? 25 : 2);
        }
      };
      let done = 0;
      for (let round = 0; round < 30 && done < limited.length; round += 1) {
        const workers = [1, 2, 3, 4].map((n) => `w${round}-${n}`);
        await Promise.all(workers.map((worker) => world.store.heartbeat(worker, 1_000)));
        const answers = await Promise.all(workers.map((worker) => world.lease(worker, { caps, max: 9 })));
        await within();
        expect(answers.flatMap(ids)).toHaveLength(new Set(answers.flatMap(ids)).size);
        // In turn one worker dies, one stops, and the others finish.
        for (const [n, { jobs }] of answers.entries()) {
          const fate = (n + round) % 4;
          if (fate === 1) await world.store.handBack(workers[n]!);
          if (fate < 2) continue;
          for (const { jobId, fence } of jobs) {
            await world.advance(jobId, { worker: workers[n]!, fence, next: end("completed") });
            done += 1;
          }
        }
        world.clock.advance(1_001);
        await Promise.all([1, 2].map(() => world.store.sweep({ max: 100, repair: false })));
        await within();
      }
      expect(done).toBe(limited.length);
      expect(await world.store.reads.limitUses(env, 10)).toEqual([]);
    });
  });

  describe("born leased in a lane", () => {
    test("a run begins in the call that created it while its slots have room", async () => {
      const world = await openWorld(open);
      const lane = laneOf({ all: 1 });
      const start = (id: string) =>
        world.ingest([newEvent(`event of ${id}`)], [startPair(id, inLane(lane, { leaseTo: "w1" }))]);
      expect(await start("r1")).toMatchObject({ leased: [{ jobId: "r1", fence: 1 }], queued: false });
      expect(await start("r2")).toMatchObject({ leased: [], queued: true });
      await world.advance("r1", { next: end("completed") });
      // Room again, but one of the lane came before.
      expect(await start("r3")).toMatchObject({ leased: [], queued: true });
      expect(ids(await world.lease("w2", { caps: capsOf(1) }))).toEqual(["r2"]);
    });

    test("a run that was leased after its birth is not told again to whoever repeats the call: its worker knows of it", async () => {
      const world = await openWorld(open);
      const lane = laneOf({ all: 1 });
      const start = (id: string) =>
        world.ingest([newEvent(`event of ${id}`)], [startPair(id, inLane(lane, { leaseTo: "w1" }))]);
      await start("r1");
      await start("r2");
      await world.advance("r1", { next: end("completed") });
      expect(ids(await world.lease("w1", { caps: capsOf(1) }))).toEqual(["r2"]);
      expect((await start("r2")).leased).toEqual([]);
    });

    test("a rerun stands in line like any other", async () => {
      const world = await openWorld(open);
      const lane = laneOf({ all: 1 });
      await world.start("r1", inLane(lane, { leaseTo: "w1" }));
      await world.advance("r1", { next: end("failed") });
      const rerun = (newRunId: string) =>
        world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId, rank: 0, leaseTo: "w1", lane });
      expect(await rerun("r2")).toMatchObject({ leased: { jobId: "r2" } });
      expect(await rerun("r3")).toMatchObject({ leased: null });
      expect(ids(await world.lease("w2", { caps: capsOf(1) }))).toEqual([]);
      await world.advance("r2", { next: end("completed") });
      expect(ids(await world.lease("w2", { caps: capsOf(1) }))).toEqual(["r3"]);
    });
  });

  describe("a start that comes too late", () => {
    const late = (slots: Record<string, number>): Partial<StartPair> => ({
      flow: startFlow({ lane: laneOf(slots), startWithinMs: 100 }),
    });

    test("who has waited too long is leased past its lane and holds nothing", async () => {
      const world = await openWorld(open);
      const caps = capsOf(1);
      await world.start("r1", { ...late({ all: 1 }), leaseTo: "w1" });
      await world.start("r2", late({ all: 1 }), { ts: 0 });
      const { jobs, nextDueAt } = await world.lease("w1", { caps });
      expect(jobs).toEqual([]);
      world.clock.advance(100);
      expect(ids(await world.lease("w1", { caps }))).toEqual([]);
      world.clock.advance(nextDueAt! - world.clock.wallMs());
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r2"]);
      expect(await usedOf(world, "all")).toBe(1);
      expect(await world.advance("r2", { next: end("cancelled") })).toMatchObject({ freed: false });
    });

    test("who has waited too long is only to be ended, also by whoever gets it after a hand-back", async () => {
      const world = await openWorld(open);
      const caps = capsOf(1);
      await world.start("r1", inLane(laneOf({ all: 1 }), { leaseTo: "w1" }));
      await world.start("r2", late({ all: 1 }), { ts: 0 });
      world.clock.advance(1_000);
      const { jobs } = await world.lease("w2", { caps });
      expect(jobs).toMatchObject([{ jobId: "r2", isOverdue: true }]);
      await world.store.handBack("w2");
      expect((await world.lease("w3", { caps })).jobs).toMatchObject([{ jobId: "r2", isOverdue: true }]);
      expect(await usedOf(world, "all")).toBe(1);
    });

    test("who has begun in time is never leased past its lane", async () => {
      const world = await openWorld(open);
      const caps = capsOf(1);
      await world.start("r1", { ...late({ all: 1 }), leaseTo: "w1" });
      await world.advance("r1", { steps: [newStep("s")], next: { kind: "suspend", dueAt: world.clock.wallMs() + 1 } });
      await world.start("r2", inLane(laneOf({ all: 1 }), { leaseTo: "w1" }));
      world.clock.advance(1_000);
      expect(ids(await world.lease("w1", { caps }))).toEqual([]);
    });
  });

  everyWrite(
    open,
    "ingest of a limited run",
    async (world) => () =>
      world.ingest([newEvent("e1")], [startPair("r1", inLane(laneOf({ all: 1 }), { leaseTo: "w1" }))]),
    ({ decisions, leased }) => ({ decisions, leased }),
  );
}
