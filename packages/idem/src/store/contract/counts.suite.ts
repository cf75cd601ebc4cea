// Decisions are counted once, whoever counts and however often, and runs are found together with those they share a window with.
import { describe, expect, test } from "vitest";
import { makeUlid } from "../../model/ulid.ts";
import type { DecisionCount } from "../counts.ts";
import { hourMs } from "../counts.ts";
import {
  end,
  env,
  fn,
  newAttempt,
  newEvent,
  type OpenStore,
  openWorld,
  plainRerun,
  startFlow,
  startPair,
  type World,
} from "./world.ts";

let made = 0;
const idAt = (ms: number): string => {
  const entropy = new Uint8Array(10);
  new DataView(entropy.buffer).setUint32(6, ++made);
  return makeUlid(ms, entropy);
};

/** An event that asks for a run of `fn`, with ids of this very moment. */
async function ask(world: World, over: object = {}, event: object = {}): Promise<{ eventId: string; runId: string }> {
  const at = world.clock.wallMs();
  const [eventId, runId] = [idAt(at), idAt(at)];
  await world.ingest([newEvent(eventId, event)], [startPair(runId, { leaseTo: "w1", generation: runId, ...over })]);
  return { eventId, runId };
}

const everything = { since: 0, until: Number.MAX_SAFE_INTEGER };
const sum = (counts: readonly DecisionCount[]) => ({
  started: counts.reduce((total, { started }) => total + started, 0),
  suppressed: counts.reduce((total, { suppressed }) => total + suppressed, 0),
});

async function countAll(world: World, max = 100): Promise<number> {
  for (let passes = 1; ; passes++) {
    const { isAll } = await world.store.count({ env, until: world.clock.wallMs() + 1, max });
    if (isAll) return passes;
  }
}

export function countsSuite(open: OpenStore): void {
  describe("counts", () => {
    test("starts and duplicates are counted by hour and function, once, in commits of at most so many", async () => {
      const world = await openWorld(open);
      const first = world.clock.wallMs();
      for (const key of ["1", "1", "1", "2"]) await ask(world, { key });
      world.clock.advance(hourMs);
      await ask(world, { fn: "shop-other" });
      expect(await countAll(world, 2)).toBeGreaterThan(2);
      await countAll(world);
      const { counts } = await world.store.reads.hourCounts(env, everything);
      const hour = (ms: number) => Math.floor(ms / hourMs) * hourMs;
      expect([...counts].sort((a, b) => a.at - b.at)).toEqual([
        { at: hour(first), fn, started: 2, suppressed: 2 },
        { at: hour(first + hourMs), fn: "shop-other", started: 1, suppressed: 0 },
      ]);
      const inSecond = { since: first + hourMs, until: first + 2 * hourMs };
      expect((await world.store.reads.hourCounts(env, inSecond)).counts).toHaveLength(1);
      expect((await world.store.reads.hourCounts(env, { ...everything, fn })).counts).toHaveLength(1);
      expect((await world.store.reads.hourCounts("other", everything)).counts).toEqual([]);
    });

    test("what is not counted yet is counted live, and the two add up", async () => {
      const world = await openWorld(open);
      await ask(world, { key: "1" });
      await ask(world, { key: "1" });
      world.clock.advance(1_000);
      const { reads } = world.store;
      const together = async () => {
        const counted = await reads.hourCounts(env, everything);
        const live = await reads.liveCounts(env, {
          ...everything,
          until: world.clock.wallMs() + hourMs,
          after: counted.countedTo,
          stepMs: 60_000,
          examinedMax: 100,
        });
        return { ...sum([...counted.counts, ...live.counts]), isAll: live.isAll };
      };
      expect(await together()).toEqual({ started: 1, suppressed: 1, isAll: true });
      await countAll(world);
      expect(await together()).toEqual({ started: 1, suppressed: 1, isAll: true });
      await ask(world, { key: "1" });
      expect(await together()).toEqual({ started: 1, suppressed: 2, isAll: true });
    });

    test("live counts look at no more than they may, and say so", async () => {
      const world = await openWorld(open);
      for (const key of ["1", "2", "3"]) await ask(world, { key });
      const filter = { since: 0, until: world.clock.wallMs() + hourMs, after: "", stepMs: 60_000 };
      const cut = await world.store.reads.liveCounts(env, { ...filter, examinedMax: 2 });
      expect({ ...sum(cut.counts), isAll: cut.isAll }).toEqual({ started: 2, suppressed: 0, isAll: false });
      expect(await world.store.reads.liveCounts(env, { ...filter, examinedMax: 2, isWhole: true })).toEqual({
        counts: [],
        slips: [],
        isAll: false,
      });
      expect((await world.store.reads.liveCounts(env, { ...filter, examinedMax: 4, isWhole: true })).isAll).toBe(true);
    });

    test("many who count at once count each decision once", async () => {
      const world = await openWorld(open);
      for (let i = 0; i < 6; i++) await ask(world, { key: String(i) });
      const until = world.clock.wallMs() + 1;
      await Promise.all(Array.from({ length: 6 }, () => world.store.count({ env, until, max: 2 })));
      await countAll(world);
      expect(sum((await world.store.reads.hourCounts(env, everything)).counts)).toEqual({ started: 6, suppressed: 0 });
    });

    test("an event that is still in a buffer is waited for, and then counted as what became of it", async () => {
      const world = await openWorld(open);
      const buffer = { kind: "debounce", key: "k", periodMs: 60_000, timeoutMs: null } as const;
      await ask(world, { leaseTo: null, flow: startFlow({ buffer }) });
      await ask(world, { key: "1" });
      await countAll(world);
      expect(sum((await world.store.reads.hourCounts(env, everything)).counts)).toEqual({ started: 0, suppressed: 0 });
      world.clock.advance(60_001);
      await world.lease();
      await countAll(world);
      expect(sum((await world.store.reads.hourCounts(env, everything)).counts)).toEqual({ started: 2, suppressed: 0 });
    });

    test("a run that takes a released key slipped through, a rerun did not, and all three are one group", async () => {
      const world = await openWorld(open);
      const first = await ask(world, { key: "7" });
      await ask(world, { key: "7" });
      await world.advance(first.runId, { next: end("completed") });
      await world.releaseByHand("7");
      world.clock.advance(1_000);
      const again = await ask(world, { key: "7" });
      const rerun = idAt(world.clock.wallMs());
      await world.store.rerun({ env, runId: first.runId, newRunId: rerun, rank: 0, leaseTo: null, ...plainRerun });
      const alone = await ask(world);
      const { reads } = world.store;
      const tail = { ...everything, until: world.clock.wallMs() + hourMs, stepMs: 60_000, examinedMax: 100 };
      const slip = { runId: again.runId, generation: first.runId, fn, at: world.clock.wallMs() };
      expect((await reads.liveCounts(env, { ...tail, after: "" })).slips).toEqual([slip]);
      expect((await reads.liveCounts(env, { ...tail, after: "", fn: "shop-other" })).slips).toEqual([]);
      await countAll(world);
      const { countedTo } = await reads.hourCounts(env, everything);
      expect((await reads.liveCounts(env, { ...tail, after: countedTo })).slips).toEqual([]);
      expect(await reads.slips(env, { limit: 10 })).toMatchObject([
        { runId: again.runId, generation: first.runId, fn, at: world.clock.wallMs() },
      ]);
      expect(await reads.slips(env, { limit: 10, fn: "shop-other" })).toEqual([]);
      expect(await reads.slips(env, { limit: 10, before: again.runId })).toEqual([]);
      for (const asked of [first.runId, again.runId, rerun]) {
        const found = await reads.groupRuns(env, [asked], 10);
        expect(found.map(({ group, run }) => [group, run.id])).toEqual(
          [first.runId, again.runId, rerun].sort().map((id) => [first.runId, id]),
        );
      }
      const both = await reads.groupRuns(env, [alone.runId, again.runId], 10);
      expect(new Set(both.map(({ group }) => group))).toEqual(new Set([alone.runId, first.runId]));
      expect(await reads.groupRuns(env, ["nobody"], 10)).toEqual([]);
    });

    test("a run that was let start because the one before failed and gave its key back slipped through nothing", async () => {
      const world = await openWorld(open);
      const { reads } = world.store;
      const again = async (before: string, how: () => Promise<unknown>) => {
        world.clock.advance(1_000);
        await how();
        world.clock.advance(1_000);
        const { runId } = await ask(world, { key: "7" });
        const found = await reads.groupRuns(env, [before], 20);
        const live = found.find(({ run }) => run.id === runId)?.isAfterFailure;
        await countAll(world);
        const counted = (await reads.groupRuns(env, [runId], 20)).find(({ run }) => run.id === runId)!;
        expect(live ?? counted.isAfterFailure).toBe(counted.isAfterFailure);
        return { runId, isAfterFailure: counted.isAfterFailure };
      };
      const first = await ask(world, { key: "7" });
      const second = await again(first.runId, () => world.advance(first.runId, { next: end("failed", '"no"', true) }));
      expect(second.isAfterFailure).toBe(true);
      const third = await again(second.runId, () =>
        world.store.cancel({ env, runId: second.runId, result: '"so"', releaseKey: true, ingest: null }),
      );
      expect(third.isAfterFailure).toBe(true);
      expect(await reads.slips(env, { limit: 10 })).toEqual([]);
      // It failed and kept its key, as most do: a hand released it.
      const fourth = await again(third.runId, async () => {
        await world.advance(third.runId, { next: end("failed") });
        await world.releaseByHand("7");
      });
      // A hand released its key while it ran, and then it failed.
      const fifth = await again(fourth.runId, async () => {
        await world.releaseByHand("7");
        await world.advance(fourth.runId, { next: end("failed", '"no"', true) });
      });
      expect([fourth.isAfterFailure, fifth.isAfterFailure]).toEqual([false, false]);
      const slips = await reads.slips(env, { limit: 10 });
      expect(slips.map(({ runId }) => runId).sort()).toEqual([fourth.runId, fifth.runId].sort());
      // The hand that released it once has nothing to do with what is given back later.
      const sixth = await again(fifth.runId, () => world.advance(fifth.runId, { next: end("failed", '"no"', true) }));
      expect(sixth.isAfterFailure).toBe(true);
    });

    test("a run is told with its event, its window, its duplicates, its payloads and its last failure", async () => {
      const world = await openWorld(open);
      const { eventId, runId } = await ask(world, { key: "7", windowMs: 5_000, reason: "so" }, { data: '{"a":1}' });
      await ask(world, { key: "7" });
      await ask(world, { key: "7" });
      const { reads } = world.store;
      await world.advance(runId, { attempts: [newAttempt("s", 1), newAttempt("s", 2)], next: end("failed", '"no"') });
      expect(await reads.runStarts(env, [{ id: runId, eventId, fn }])).toEqual([
        {
          runId,
          eventName: "order/paid",
          callerId: null,
          reason: "so",
          windowEndsAt: world.clock.wallMs() + 5_000,
          suppressed: 2,
        },
      ]);
      expect(await reads.eventNames(env, [eventId, "nobody"])).toEqual([
        { eventId, eventName: "order/paid", callerId: null },
      ]);
      expect(await reads.runPayloads(env, [runId, "nobody"], 100)).toEqual([
        { runId, eventName: "order/paid", data: '{"a":1}', result: '"no"' },
      ]);
      expect(await reads.runPayloads(env, [runId], 4)).toEqual([
        { runId, eventName: "order/paid", data: null, result: '"no"' },
      ]);
      expect(await reads.lastFailures(env, [runId, "nobody"])).toEqual([
        { runId, step: "name of s", attempt: 2, error: '"attempt 2 failed"', retryAt: 3 },
      ]);
    });
  });
}
