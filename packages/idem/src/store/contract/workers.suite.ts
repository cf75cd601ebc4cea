// The workers of a store: what each said about itself, when it was last heard of, what it holds. For people; the lease decides.
import { describe, expect, test } from "vitest";
import type { WorkerAbout } from "../sharing.ts";
import { env, newEvent, type OpenStore, openWorld, startPair } from "./world.ts";

const about: WorkerAbout = { node: "process 7 on shop-1", version: "0.3.0", role: "all" };

export function workersSuite(open: OpenStore): void {
  describe("workers", () => {
    test("a worker is listed with what it said, since when it is there and when it was last heard of", async () => {
      const { store, clock } = await openWorld(open);
      expect(await store.reads.workers()).toEqual([]);
      const { now: startedAt } = await store.heartbeat("w1", 20_000, about);
      clock.advance(5_000);
      const { now: beatAt } = await store.heartbeat("w1", 20_000, about);
      expect(await store.reads.workers()).toEqual([
        { id: "w1", ...about, startedAt, beatAt, until: beatAt + 20_000, isDead: false, leased: 0 },
      ]);
    });

    test("the time that is read is the one operations decide by, also after the wall clock was set back", async () => {
      const { store, clock } = await openWorld(open);
      const { now } = await store.heartbeat("w1", 20_000);
      expect(await store.reads.now()).toBe(now);
      clock.stepWall(-60 * 60 * 1_000);
      clock.advance(4_000);
      const read = await store.reads.now();
      expect(read).toBeGreaterThanOrEqual(now);
      expect((await store.heartbeat("w1", 20_000)).now).toBeGreaterThanOrEqual(read);
    });

    test("a heartbeat that says nothing leaves what was said; a worker that never said anything has no node", async () => {
      const { store } = await openWorld(open);
      await store.heartbeat("w1", 20_000, about);
      await store.heartbeat("w1", 20_000);
      await store.heartbeat("w2", 20_000);
      const [first, second] = await store.reads.workers();
      expect(first).toMatchObject({ id: "w1", ...about });
      expect(second).toMatchObject({ id: "w2", node: null, version: null, role: null, isDead: false });
    });

    test("the same process after an upgrade is known by what it says now", async () => {
      const { store } = await openWorld(open);
      await store.heartbeat("w1", 20_000, about);
      await store.heartbeat("w1", 20_000, { ...about, version: "0.4.0", role: "worker" });
      expect(await store.reads.workers()).toMatchObject([{ node: about.node, version: "0.4.0", role: "worker" }]);
    });

    test("what it holds is counted over all environments, and no longer once it is handed back", async () => {
      const world = await openWorld(open);
      const { store } = world;
      await store.heartbeat("w1", 20_000, about);
      await store.heartbeat("w2", 20_000, about);
      await world.start("r1", { leaseTo: "w1" });
      await world.start("r2", { leaseTo: "w1" });
      await world.start("r3");
      const elsewhere = { env: `${env}-2`, registration: null, leaseTo: null };
      const pairs = [startPair("r4", { leaseTo: "w2" })];
      await store.ingest({ ...elsewhere, events: [newEvent("e4")], pairs });
      expect((await store.reads.workers()).map(({ id, leased }) => [id, leased])).toEqual([
        ["w1", 2],
        ["w2", 1],
      ]);
      expect((await store.reads.workers(env)).map(({ id, leased }) => [id, leased])).toEqual([
        ["w1", 2],
        ["w2", 0],
      ]);
      await store.handBack("w1");
      expect(await store.reads.workers()).toMatchObject([
        { id: "w1", leased: 0, isDead: true },
        { id: "w2", leased: 1, isDead: false },
      ]);
    });

    test("a worker that went silent is listed as dead once somebody swept, and hears of it", async () => {
      const world = await openWorld(open);
      const { store, clock } = world;
      const { now: beatAt } = await store.heartbeat("w1", 20_000, about);
      await world.start("r1", { leaseTo: "w1" });
      clock.advance(20_001);
      expect(await store.reads.workers()).toMatchObject([{ id: "w1", isDead: false, leased: 1 }]);
      await store.sweep({ max: 10, repair: false });
      expect(await store.reads.workers()).toMatchObject([{ id: "w1", ...about, beatAt, isDead: true, leased: 0 }]);
      expect(await store.heartbeat("w1", 20_000, about)).toMatchObject({ alive: false });
      expect(await store.reads.workers()).toMatchObject([{ id: "w1", beatAt, isDead: true }]);
    });

    test("workers stand in the order of their ids, which is the order they began in", async () => {
      const { store } = await openWorld(open);
      for (const id of ["w3", "w1", "w2"]) await store.heartbeat(id, 20_000, about);
      expect((await store.reads.workers()).map(({ id }) => id)).toEqual(["w1", "w2", "w3"]);
    });
  });
}
