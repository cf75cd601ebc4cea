// Ends of runs are counted where they end, once each, and reads give what was committed, whether a sweep came by or not.
import { describe, expect, test } from "vitest";
import { durationAt, sketchText } from "../../model/duration-sketch.ts";
import { hourMs } from "../counts.ts";
import { type EndCount, type EndStep, floorTo, minuteMs } from "../ends.ts";
import { end, env, fn, newEvent, type OpenStore, openWorld, startPair, type World } from "./world.ts";

const everything = { since: 0, until: Number.MAX_SAFE_INTEGER };

let made = 0;
async function run(world: World, state: "completed" | "failed" | "cancelled", over: object = {}): Promise<string> {
  const runId = await begin(world, over);
  world.clock.advance(100);
  if (state === "cancelled") await world.store.cancel({ env, runId, result: '"no"', releaseKey: false, ingest: null });
  else await world.advance(runId, { next: end(state) });
  return runId;
}

async function begin(world: World, over: object = {}): Promise<string> {
  const runId = `r${String(++made).padStart(6, "0")}`;
  await world.ingest([newEvent(`e-${runId}`)], [startPair(runId, { leaseTo: "w1", generation: runId, ...over })]);
  return runId;
}

const told = async (world: World, stepMs: EndStep, over: object = {}) =>
  [...(await world.store.reads.endCounts(env, { ...everything, stepMs, ...over }))]
    .sort((a, b) => a.at - b.at || (a.fn < b.fn ? -1 : 1))
    .map(({ took, ...count }: EndCount) => ({ ...count, took: sketchText(took) }));

const sweep = (world: World) => world.store.sweep({ max: 100, repair: false });

export function endsSuite(open: OpenStore): void {
  describe("ends", () => {
    test("runs are counted by how they ended, by function, minute and hour, from the commit that ends them", async () => {
      const world = await openWorld(open);
      const first = world.clock.wallMs();
      for (const state of ["completed", "completed", "failed", "cancelled"] as const) await run(world, state);
      await begin(world);
      world.clock.advance(hourMs);
      const later = world.clock.wallMs();
      await run(world, "failed", { fn: "shop-other" });
      const hour = [
        { at: floorTo(first, hourMs), fn, completed: 2, failed: 1, cancelled: 1 },
        { at: floorTo(later, hourMs), fn: "shop-other", completed: 0, failed: 1, cancelled: 0 },
      ];
      expect(await told(world, hourMs)).toMatchObject(hour);
      expect((await told(world, minuteMs)).map(({ at }) => at)).toContain(floorTo(later, minuteMs));
      expect(await told(world, hourMs, { since: later })).toMatchObject([hour[1]]);
      expect(await told(world, hourMs, { until: later - hourMs / 2 })).toMatchObject([hour[0]]);
      expect(await told(world, hourMs, { fn: "shop-other" })).toMatchObject([hour[1]]);
      expect(await world.store.reads.endCounts("other", { ...everything, stepMs: hourMs })).toEqual([]);
    });

    test("a sweep changes where the counts are, and no number of them", async () => {
      const world = await openWorld(open);
      for (const state of ["completed", "failed", "completed"] as const) await run(world, state);
      const before = [await told(world, hourMs), await told(world, minuteMs)];
      expect(await sweep(world)).toMatchObject({ isCounted: true });
      expect([await told(world, hourMs), await told(world, minuteMs)]).toEqual(before);
      await run(world, "completed");
      await Promise.all([sweep(world), sweep(world), sweep(world)]);
      const [count] = await told(world, hourMs);
      expect(count).toMatchObject({ completed: 3, failed: 1 });
    });

    test("an end that is asked for again, or refused, counts once or not at all", async () => {
      const world = await openWorld(open);
      const runId = await begin(world);
      await Promise.all([1, 2, 3].map(() => world.advance(runId, { next: end("completed") })));
      await world.advance(runId, { next: end("failed") });
      await world.store.cancel({ env, runId, result: '"no"', releaseKey: false, ingest: null });
      expect(await told(world, hourMs)).toMatchObject([{ completed: 1, failed: 0, cancelled: 0 }]);
    });

    test("how long runs took is that of those that began, and how old the oldest was is kept", async () => {
      const world = await openWorld(open);
      const createdAt = world.clock.wallMs();
      const [slow, inLine] = [await begin(world), await begin(world, { leaseTo: null })];
      await run(world, "completed");
      world.clock.advance(9_900);
      await world.advance(slow, { next: end("completed") });
      await world.store.cancel({ env, runId: inLine, result: '"no"', releaseKey: false, ingest: null });
      await sweep(world);
      const [count] = await world.store.reads.endCounts(env, { ...everything, stepMs: hourMs });
      expect(count).toMatchObject({ completed: 2, cancelled: 1, oldest: createdAt });
      expect([...count!.took.values()]).toEqual([1, 1]);
      expect(durationAt(count!.took, 0)).toBeGreaterThanOrEqual(97);
      expect(durationAt(count!.took, 0)).toBeLessThanOrEqual(103);
      expect(durationAt(count!.took, 0.95)).toBeGreaterThanOrEqual(9_700);
    });

    test("minutes are forgotten after a few hours, hours are not", async () => {
      const world = await openWorld(open);
      await run(world, "completed");
      await sweep(world);
      world.clock.advance(5 * hourMs);
      await run(world, "completed");
      await sweep(world);
      expect(await told(world, hourMs)).toHaveLength(2);
      expect(await told(world, minuteMs)).toHaveLength(1);
    });

    test("runs are listed by when they ended, however long ago they were created", async () => {
      const world = await openWorld(open);
      const old = await begin(world);
      const early = await run(world, "failed");
      world.clock.advance(hourMs);
      const since = world.clock.wallMs();
      const late = await run(world, "failed");
      await world.advance(old, { next: end("failed") });
      await begin(world);
      const page = async (over: object) =>
        (await world.store.reads.runPage(env, { limit: 10, examinedMax: 100, ...over })).rows.map(({ id }) => id);
      expect(await page({ state: "failed", endedSince: since })).toEqual([late, old]);
      expect(await page({ endedSince: since })).toEqual([late, old]);
      expect(await page({ fn, endedUntil: since })).toEqual([early]);
    });
  });
}
