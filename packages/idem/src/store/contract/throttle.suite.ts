// A throttle spaces starts and refuses none: who is early waits, and the store says until when.
import { describe, expect, test } from "vitest";
import type { ThrottleRule } from "../../flow/throttle/plan.ts";
import { ids, inLane } from "./lanes.suite.ts";
import { end, everyWrite, fn, laneOf, newEvent, type OpenStore, openWorld, startPair, timeWait } from "./world.ts";

const rule: ThrottleRule = { limit: 2, periodMs: 1_000, burst: 1 };
const throttled = (over: Partial<ThrottleRule> = {}, slots: Record<string, number> = {}) =>
  laneOf(slots, { throttle: ["t", { ...rule, ...over }] });
const capsWith = (over: Partial<ThrottleRule> = {}, ...slots: number[]) => ({
  [fn]: { slots, throttle: { ...rule, ...over } },
});

export function throttleSuite(open: OpenStore): void {
  describe("throttle", () => {
    test("starts are spaced evenly, none a millisecond early, and the next one's instant is told", async () => {
      const world = await openWorld(open);
      const begun = world.clock.wallMs();
      for (const n of [1, 2, 3]) await world.start(`r${n}`, inLane(throttled(), { rank: n }));
      const caps = capsWith();
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [{ jobId: "r1" }], nextDueAt: begun + 500 });
      world.clock.advance(499);
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [], nextDueAt: begun + 500 });
      world.clock.advance(1);
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [{ jobId: "r2" }], nextDueAt: begun + 1_000 });
      world.clock.advance(500);
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [{ jobId: "r3" }], nextDueAt: null });
    });

    test("as many as its burst may begin at once, and then as evenly as the others", async () => {
      const world = await openWorld(open);
      const begun = world.clock.wallMs();
      for (const n of [1, 2, 3, 4, 5]) await world.start(`r${n}`, inLane(throttled({ burst: 3 }), { rank: n }));
      const caps = capsWith({ burst: 3 });
      const first = await world.lease("w1", { caps });
      expect([ids(first), first.nextDueAt]).toEqual([["r1", "r2", "r3"], begun + 500]);
      world.clock.advance(500);
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r4"]);
      world.clock.advance(500);
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r5"]);
    });

    test("what has begun does not pay again: after a sleep, a hand-back or a rescue", async () => {
      const world = await openWorld(open);
      const caps = capsWith();
      const dueAt = world.clock.wallMs() + 10;
      await world.start("r1", inLane(throttled()));
      await world.lease("w1", { caps });
      await world.advance("r1", { waits: [timeWait("s", dueAt)], next: { kind: "suspend", dueAt: null } });
      world.clock.advance(10);
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r1"]);
      await world.store.handBack("w1");
      expect(ids(await world.lease("w2", { caps }))).toEqual(["r1"]);
    });

    test("a run that waits for its throttle holds no slot, and one without a slot pays no throttle", async () => {
      const world = await openWorld(open);
      const begun = world.clock.wallMs();
      const lane = throttled({}, { all: 1 });
      for (const n of [1, 2]) await world.start(`r${n}`, inLane(lane, { rank: n }));
      const caps = capsWith({}, 1);
      // The slot is what keeps the second one, so there is no instant to wait for.
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [{ jobId: "r1" }], nextDueAt: null });
      expect(await world.advance("r1", { next: end("completed") })).toMatchObject({ freed: true });
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [], nextDueAt: begun + 500 });
      world.clock.advance(600);
      expect(ids(await world.lease("w1", { caps }))).toEqual(["r2"]);
      // Spaced from its own start, not from when it could have been.
      await world.start("r3", inLane(lane));
      await world.advance("r2", { next: end("completed") });
      expect(await world.lease("w1", { caps })).toMatchObject({ jobs: [], nextDueAt: begun + 1_100 });
    });

    test("a run is born leased only if its throttle admits it", async () => {
      const world = await openWorld(open);
      const start = (id: string) =>
        world.ingest([newEvent(`event of ${id}`)], [startPair(id, inLane(throttled(), { leaseTo: "w1" }))]);
      expect(await start("r1")).toMatchObject({ leased: [{ jobId: "r1" }] });
      expect(await start("r2")).toMatchObject({ leased: [], queued: true });
      world.clock.advance(500);
      expect(ids(await world.lease("w1", { caps: capsWith() }))).toEqual(["r2"]);
    });

    test("two workers who ask at once get one start", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3]) await world.start(`r${n}`, inLane(throttled()));
      const answers = await Promise.all(["w1", "w2"].map((worker) => world.lease(worker, { caps: capsWith() })));
      expect(answers.flatMap(ids)).toHaveLength(1);
    });

    test("a throttle that the configuration no longer has keeps nobody", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await world.start(`r${n}`, inLane(throttled()));
      expect(ids(await world.lease("w1", { caps: { [fn]: { slots: [], throttle: null } } }))).toHaveLength(2);
    });

    everyWrite(
      open,
      "ingest of a throttled run",
      async (world) => () =>
        world.ingest([newEvent("e1")], [startPair("r1", inLane(throttled({}, { all: 1 }), { leaseTo: "w1" }))]),
      ({ decisions, leased }) => ({ decisions, leased }),
    );
  });
}
