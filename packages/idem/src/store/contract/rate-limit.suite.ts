// At most so many runs in any period. The surplus is refused, with a decision that says when there is room, and takes nothing.
import { describe, expect, test } from "vitest";
import type { StartPair } from "../ingest.ts";
import {
  end,
  env,
  everyWrite,
  newEvent,
  type OpenStore,
  openWorld,
  plainRerun,
  startFlow,
  startPair,
} from "./world.ts";

const limited = (over: Partial<StartPair> = {}, rule: { id?: string; limit?: number } = {}): Partial<StartPair> => ({
  flow: startFlow({ rateLimit: { id: "shop-bill", limit: 2, periodMs: 1_000, ...rule } }),
  ...over,
});

export function rateLimitSuite(open: OpenStore): void {
  describe("rate limits", () => {
    test("what is above the limit is refused, and the reason names the limit and when it frees", async () => {
      const world = await openWorld(open);
      const begun = world.clock.wallMs();
      expect(await world.start("r1", limited())).toMatchObject({ kind: "started" });
      world.clock.advance(300);
      expect(await world.start("r2", limited())).toMatchObject({ kind: "started" });
      expect(await world.start("r3", limited({ key: '"k"' }))).toMatchObject({
        kind: "rate-limited",
        reason: `at most 2 runs in 1 s for shop-bill; frees at ${new Date(begun + 1_000).toISOString()}`,
        runId: null,
        key: '"k"',
        windowEndsAt: null,
      });
      expect(await world.store.reads.runs(env, { limit: 10 })).toHaveLength(2);
    });

    test("in any period there are no more than the limit: a start counts until its period is over, to the millisecond", async () => {
      const world = await openWorld(open);
      const kinds: string[] = [];
      const start = async (afterMs: number) => {
        world.clock.advance(afterMs);
        kinds.push((await world.start(`r${kinds.length}`, limited())).kind);
      };
      await start(0); // 0
      await start(600); // 600
      await start(399); // 999: both count
      await start(1); // 1000: the first no longer does
      await start(599); // 1599: 600 and 1000 count
      await start(1); // 1600
      expect(kinds).toEqual(["started", "started", "rate-limited", "started", "rate-limited", "started"]);
    });

    test("a run that was refused counts for nothing", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3, 4, 5]) await world.start(`r${n}`, limited());
      world.clock.advance(1_000);
      expect(await world.start("r6", limited())).toMatchObject({ kind: "started" });
      expect(await world.start("r7", limited())).toMatchObject({ kind: "started" });
    });

    test("a refused event takes no key: the same key starts a run once there is room", async () => {
      const world = await openWorld(open);
      const one = (id: string, key: string) => world.start(id, limited({ key }, { limit: 1 }));
      await one("r1", '"a"');
      expect(await one("r2", '"b"')).toMatchObject({ kind: "rate-limited" });
      expect(await world.store.reads.claims(env, { limit: 10 })).toMatchObject([{ key: '"a"' }]);
      world.clock.advance(1_000);
      expect(await one("r3", '"b"')).toMatchObject({ kind: "started", runId: "r3" });
    });

    test("a duplicate takes no part of the limit, by its key or by its id", async () => {
      const world = await openWorld(open);
      await world.start("r1", limited({ key: '"a"' }), { callerId: "id" });
      expect(await world.start("r2", limited({ key: '"a"' }))).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      expect(await world.start("r3", limited(), { callerId: "id" })).toMatchObject({ kind: "duplicate-event" });
      expect(await world.start("r4", limited())).toMatchObject({ kind: "started" });
      expect(await world.start("r5", limited())).toMatchObject({ kind: "rate-limited" });
      // Its key is known whether or not there is room.
      expect(await world.start("r6", limited({ key: '"a"' }))).toMatchObject({ kind: "duplicate-key" });
    });

    test("each id has its own limit, and so has each environment", async () => {
      const world = await openWorld(open);
      for (const id of ["a", "b"]) {
        expect(await world.start(`r-${id}`, limited({}, { id, limit: 1 }))).toMatchObject({ kind: "started" });
        expect(await world.start(`s-${id}`, limited({}, { id, limit: 1 }))).toMatchObject({ kind: "rate-limited" });
      }
      const elsewhere = await world.ingest([newEvent("e1")], [startPair("r1", limited({}, { id: "a", limit: 1 }))], {
        env: "elsewhere",
      });
      expect(elsewhere.decisions).toMatchObject([{ kind: "started" }]);
    });

    test("of one call, and of many at once, the first are let in and no more", async () => {
      const world = await openWorld(open);
      const events = [0, 1, 2, 3].map((n) => newEvent(`e${n}`));
      const pairs = events.map((_, event) => startPair(`r${event}`, limited({ event }, { limit: 3 })));
      const { decisions } = await world.ingest(events, pairs);
      expect(decisions.map(({ kind }) => kind)).toEqual(["started", "started", "started", "rate-limited"]);
      world.clock.advance(1_000);
      const more = await Promise.all(
        Array.from({ length: 8 }, (_, n) => world.start(`s${n}`, limited({}, { limit: 3 }))),
      );
      expect(more.filter(({ kind }) => kind === "started")).toHaveLength(3);
    });

    test("a limit that was lowered counts what began before", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3]) await world.start(`r${n}`, limited({}, { limit: 5 }));
      expect(await world.start("r4", limited({}, { limit: 2 }))).toMatchObject({ kind: "rate-limited" });
      expect(await world.start("r5", limited({}, { limit: 4 }))).toMatchObject({ kind: "started" });
    });

    test("a rerun is past the limit: a person asked", async () => {
      const world = await openWorld(open);
      await world.start("r1", limited({ leaseTo: "w1" }, { limit: 1 }));
      await world.advance("r1", { next: end("failed") });
      const rerun = { ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null };
      expect(await world.store.rerun(rerun)).toMatchObject({ kind: "started" });
    });

    everyWrite(open, "ingest within a rate limit", async (world) => async () => {
      const one = await world.ingest([newEvent("e1")], [startPair("r1", limited({ key: '"k"' }))]);
      // The repeat was counted once: there is room for the second.
      const two = await world.ingest([newEvent("e2")], [startPair("r2", limited())]);
      return [...one.decisions, ...two.decisions];
    });
  });
}
