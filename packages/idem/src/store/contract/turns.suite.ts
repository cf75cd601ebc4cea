// Turns at a lease. A hot key does not starve the others, and neither do limited functions starve the rest, nor the rest them.
import { describe, expect, test } from "vitest";
import { capsOf, ids, inLane } from "./lanes.suite.ts";
import { end, fn, laneOf, newEvent, type OpenStore, openWorld, startPair, type World } from "./world.ts";

/** So many runs in the lane of each key, all in one call, the first key's first. */
async function fill(world: World, keys: Readonly<Record<string, number>>, cap = 1_000): Promise<void> {
  const runs = Object.entries(keys).flatMap(([key, count]) =>
    Array.from({ length: count }, (_, n) => ({ id: `${key}-${n}`, lane: laneOf({ [key]: cap }) })),
  );
  await world.ingest(
    runs.map(({ id }) => newEvent(`event of ${id}`)),
    runs.map(({ id, lane }, event) => startPair(id, inLane(lane, { event, rank: event }))),
  );
}
const keyOf = (jobId: string) => jobId.split("-")[0]!;

export function turnsSuite(open: OpenStore): void {
  describe("turns", () => {
    test("in one lease every lane gets a run before any lane gets a second one", async () => {
      const world = await openWorld(open);
      await fill(world, { hot: 20, a: 1, b: 2, c: 2 });
      const leased = ids(await world.lease("w1", { caps: capsOf(1_000), max: 10 })).map(keyOf);
      expect(leased.slice(0, 4).sort()).toEqual(["a", "b", "c", "hot"]);
      expect(leased.slice(4, 7).sort()).toEqual(["b", "c", "hot"]);
      expect(leased.slice(7)).toEqual(["hot", "hot", "hot"]);
    });

    test("behind a lane with a hundred times as many, every small lane is served within two rounds", async () => {
      const world = await openWorld(open);
      const small = Array.from({ length: 40 }, (_, n) => `k${n}`);
      await fill(world, { hot: 400, ...Object.fromEntries(small.map((key) => [key, 1])) });
      const served = new Set<string>();
      for (let count = 0; count < 2 * (small.length + 1); count += 7) {
        const leased = await world.lease("w1", { caps: capsOf(1_000), max: 7 });
        for (const id of ids(leased)) served.add(keyOf(id));
      }
      expect([...served].sort()).toEqual([...small, "hot"].sort());
    });

    test("one at a time, lanes take turns, however many more come to one of them", async () => {
      const world = await openWorld(open);
      await fill(world, { a: 6, b: 6 });
      const leased: string[] = [];
      for (let n = 0; n < 12; n += 1)
        leased.push(...ids(await world.lease("w1", { caps: capsOf(1_000), max: 1 })).map(keyOf));
      for (let n = 0; n < 12; n += 2) expect(leased.slice(n, n + 2).sort()).toEqual(["a", "b"]);
    });

    test("a lane without room is passed over, and has its turn when it has", async () => {
      const world = await openWorld(open);
      await fill(world, { full: 2, free: 4 }, 1);
      const caps = { [fn]: { slots: [1], throttle: null } };
      expect(ids(await world.lease("w1", { caps, max: 4 })).sort()).toEqual(["free-0", "full-0"]);
      await world.advance("free-0", { next: end("completed") });
      expect(ids(await world.lease("w1", { caps, max: 4 }))).toEqual(["free-1"]);
      for (const id of ["free-1", "full-0"]) await world.advance(id, { next: end("completed") });
      expect(ids(await world.lease("w1", { caps, max: 4 })).sort()).toEqual(["free-2", "full-1"]);
    });

    test("within a lane the lowest rank is first", async () => {
      const world = await openWorld(open);
      const lane = laneOf({ all: 1 });
      for (const [id, rank] of Object.entries({ r1: 30, r2: 10, r3: 20 }))
        await world.start(id, inLane(lane, { rank }));
      const order: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const [id] = ids(await world.lease("w1", { caps: capsOf(1) }));
        order.push(id!);
        await world.advance(id!, { next: end("completed") });
      }
      expect(order).toEqual(["r2", "r3", "r1"]);
    });

    test("a worker gets no run of a lane whose function it lacks", async () => {
      const world = await openWorld(open);
      await world.start("r1", inLane(laneOf({ all: 1 }, { fn: "shop-other" }), { fn: "shop-other" }));
      expect(ids(await world.lease("w1", { caps: capsOf(1) }))).toEqual([]);
      const caps = { "shop-other": { slots: [1], throttle: null } };
      expect(ids(await world.lease("w1", { functions: ["shop-other"], caps }))).toEqual(["r1"]);
    });

    for (const max of [1, 2, 5, 8]) {
      test(`limited runs and the others share a lease of ${max}: each gets about half, and all of it when alone`, async () => {
        const world = await openWorld(open);
        await fill(world, { a: 30, b: 30 });
        for (let n = 0; n < 30; n += 1) await world.start(`plain-${n}`, { rank: n });
        const count = { plain: 0, limited: 0 };
        for (let n = 0; n < 4; n += 1) {
          const leased = ids(await world.lease("w1", { caps: capsOf(1_000), max }));
          expect(leased).toHaveLength(max);
          for (const id of leased) count[keyOf(id) === "plain" ? "plain" : "limited"] += 1;
        }
        expect(Math.min(count.plain, count.limited)).toBeGreaterThanOrEqual(4 * Math.floor(max / 2));
        expect(Math.min(count.plain, count.limited)).toBeGreaterThan(0);
        const rest = ids(await world.lease("w1", { caps: capsOf(1_000), max: 100 }));
        expect(rest).toHaveLength(90 - 4 * max);
      });
    }
  });
}
