// Slots that a run holds beside its own, for steps side by side: within their limits like leased runs, and gone with the lease.
import { describe, expect, test } from "vitest";
import type { BesideAsked } from "../../flow/concurrency/beside.ts";
import { capsOf, ids, inLane } from "./lanes.suite.ts";
import {
  end,
  env,
  everyWrite,
  fn,
  forever,
  laneOf,
  newAttempt,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  startPair,
  timeWait,
  type World,
} from "./world.ts";

let turns = 0;
const asked = (keep: number, want: number, ...caps: (number | null)[]): { readonly beside: BesideAsked } => ({
  beside: { turn: ++turns, keep, want, caps },
});

const usedOf = async (world: World, slot: string) =>
  (await world.store.reads.limitUses(env, 100)).find(({ id }) => id === slot)?.used ?? 0;

/** So many runs that are at work for `w1`. */
async function atWork(world: World, count: number, slots: Record<string, number>): Promise<void> {
  for (let n = 1; n <= count; n++) await world.startLeased(`r${n}`, inLane(laneOf(slots)));
}

export function besideSuite(open: OpenStore): void {
  describe("slots beside a run's own", () => {
    test("are given while there is room, and no run begins in one that is taken", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 3 });
      expect(await world.advance("r1", asked(0, 5, 3))).toMatchObject({ beside: 2, leased: true, freed: false });
      await world.start("r2", inLane(laneOf({ all: 3 }), { leaseTo: "w2" }));
      expect(await world.store.reads.limitUses(env, 10)).toEqual([{ id: "all", used: 3, waiting: 1 }]);
      expect(ids(await world.lease("w2", { caps: capsOf(3) }))).toEqual([]);
      expect(await world.advance("r1", asked(1, 1, 3))).toMatchObject({ beside: 1, freed: true });
      expect(ids(await world.lease("w2", { caps: capsOf(3) }))).toEqual(["r2"]);
      expect(await usedOf(world, "all")).toBe(3);
    });

    test("are kept while their steps are at work, whatever the limit says by then", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 4 });
      await world.advance("r1", asked(0, 3, 4));
      expect(await world.advance("r1", asked(3, 9, 2))).toMatchObject({ beside: 3 });
      expect(await world.advance("r1", asked(2, 9, 2))).toMatchObject({ beside: 2 });
      expect(await world.advance("r1", asked(2, 9, 5))).toMatchObject({ beside: 4 });
      expect(await usedOf(world, "all")).toBe(5);
      const held = { running: 1, beside1: 4, beside2: 0 };
      expect((await world.store.reads.counts(env)).byFunction[fn]).toMatchObject(held);
      expect(await world.store.reads.lines(env, { fn, limit: 9 })).toMatchObject([held]);
    });

    test("what is given back is had again by the same commit, unless a run stands in line for it", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 2 });
      await world.advance("r1", asked(0, 4, 2));
      expect(await world.advance("r1", { steps: [newStep("a")], ...asked(0, 3, 2) })).toMatchObject({ beside: 1 });
      await world.start("r2", inLane(laneOf({ all: 2 })));
      const refused = { beside: 0, freed: true };
      expect(await world.advance("r1", { steps: [newStep("b")], ...asked(0, 2, 2) })).toMatchObject(refused);
      expect(ids(await world.lease("w2", { caps: capsOf(2) }))).toEqual(["r2"]);
      expect(await world.advance("r1", asked(0, 2, 2))).toMatchObject({ beside: 0 });
      await world.advance("r2", { worker: "w2", next: end("completed") });
      expect(await world.advance("r1", asked(0, 2, 2))).toMatchObject({ beside: 1 });
    });

    test("of two limits that count steps both must have room; of one that counts runs no more than the run's own is taken", async () => {
      const world = await openWorld(open);
      await atWork(world, 2, { a: 5, all: 4 });
      expect(await world.advance("r1", asked(0, 9, 5, 4))).toMatchObject({ beside: 2 });
      expect([await usedOf(world, "a"), await usedOf(world, "all")]).toEqual([4, 4]);
      expect(await world.advance("r2", asked(0, 1, 5, 4))).toMatchObject({ beside: 0 });
      await world.advance("r1", { next: end("completed") });
      expect(await world.advance("r2", asked(0, 2, null, 4))).toMatchObject({ beside: 2 });
      expect([await usedOf(world, "a"), await usedOf(world, "all")]).toEqual([1, 3]);
    });

    test("a limit that no longer counts steps, or is not in the run's lane, gives none", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 4 });
      await world.startLeased("free");
      expect(await world.advance("free", asked(0, 2, 4))).toMatchObject({ beside: 0 });
      await world.advance("r1", asked(0, 2, 4));
      expect(await world.advance("r1", asked(2, 2, null))).toMatchObject({ beside: 0 });
      expect(await usedOf(world, "all")).toBe(1);
    });

    test("a slot that functions and environments share is held for all of them", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { shared: 3 });
      await world.advance("r1", asked(0, 2, 3));
      const lane = laneOf({ shared: 3 });
      await world.ingest([newEvent("e1")], [startPair("r2", inLane(lane))], { env: "elsewhere" });
      expect(ids(await world.lease("w1", { caps: capsOf(3), env: "elsewhere" }))).toEqual([]);
      expect(await world.advance("r1", asked(1, 1, 3))).toMatchObject({ beside: 1 });
      expect(ids(await world.lease("w1", { caps: capsOf(3), env: "elsewhere" }))).toEqual(["r2"]);
    });

    test.each([
      ["ends", (world: World) => world.advance("r1", { next: end("failed") })],
      ["sleeps", (world: World) => world.advance("r1", { waits: [timeWait("s", 1e15)], next: forever })],
      [
        "is parked",
        (world: World) =>
          world.advance("r1", { next: { kind: "park", why: { kind: "entries", reason: "…" }, dueAt: null } }),
      ],
      [
        "is cancelled",
        (world: World) => world.store.cancel({ env, runId: "r1", result: "null", releaseKey: false, ingest: null }),
      ],
    ])("all are free when the run %s, and whoever is in line may have them", async (_how, leave) => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 3 });
      await world.advance("r1", asked(0, 2, 3));
      for (const id of ["r2", "r3", "r4", "r5"]) await world.start(id, inLane(laneOf({ all: 3 })));
      expect(ids(await world.lease("w2", { caps: capsOf(3) }))).toEqual([]);
      expect(await leave(world)).toMatchObject({ freed: true });
      expect(ids(await world.lease("w2", { caps: capsOf(3) }))).toHaveLength(3);
    });

    test("all are free when the worker hands back or is lost, and whoever takes the run over has its own alone", async () => {
      const world = await openWorld(open);
      const caps = capsOf(3);
      await atWork(world, 1, { all: 3 });
      await world.advance("r1", asked(0, 2, 3));
      await world.store.handBack("w1");
      expect(await usedOf(world, "all")).toBe(0);
      await world.store.heartbeat("w2", 1_000);
      expect(ids(await world.lease("w2", { caps }))).toEqual(["r1"]);
      expect(await usedOf(world, "all")).toBe(1);
      expect(await world.tryAdvance("r1", asked(2, 2, 3))).toEqual({ kind: "fenced" });
      await world.advance("r1", { worker: "w2", fence: 3, ...asked(0, 2, 3) });
      world.clock.advance(1_001);
      await world.store.sweep({ max: 10, repair: false });
      expect(await usedOf(world, "all")).toBe(0);
      expect(ids(await world.lease("w3", { caps }))).toEqual(["r1"]);
      expect(await usedOf(world, "all")).toBe(1);
    });

    test("a suspension that news refuses leaves what the run says it keeps", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 3 });
      await world.advance("r1", asked(0, 2, 3));
      await world.advance("r1", { waits: [timeWait("s", world.clock.wallMs())], ...asked(2, 2, 3) });
      const { leased, news } = await world.advance("r1", { next: forever, ...asked(0, 0, 3) });
      expect([leased, news.length]).toEqual([true, 1]);
      expect(await usedOf(world, "all")).toBe(1);
    });

    test("a commit that comes late, behind a later one, changes nothing", async () => {
      const world = await openWorld(open);
      await atWork(world, 1, { all: 3 });
      const late = asked(0, 0, 3);
      await world.advance("r1", asked(0, 2, 3));
      await world.advance("r1", late);
      expect(await usedOf(world, "all")).toBe(3);
    });

    test("of many runs that ask at once no more is given than there is", async () => {
      const world = await openWorld(open);
      await atWork(world, 4, { all: 11 });
      const given = await Promise.all([1, 2, 3, 4].map((n) => world.advance(`r${n}`, asked(0, 3, 11))));
      expect(given.reduce((sum, { beside }) => sum + beside!, 0)).toBe(7);
      expect(await usedOf(world, "all")).toBe(11);
    });
  });

  everyWrite(
    open,
    "advance that asks for slots beside its own",
    async (world) => {
      await atWork(world, 1, { all: 3 });
      const patch = { steps: [newStep("a")], attempts: [newAttempt("b", 1)], ...asked(0, 5, 3) };
      return () => world.advance("r1", patch);
    },
    ({ outcomes, beside }) => ({ outcomes, beside }),
  );
}
