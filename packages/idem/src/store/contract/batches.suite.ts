// Events kept until there are enough of them, and one run for all. A key is carried once, and all keys share the run's fate.
import { describe, expect, test } from "vitest";
import type { StartFlow } from "../../flow/plan.ts";
import { dayMs } from "../../model/window.ts";
import type { NewEvent, StartPair } from "../ingest.ts";
import { ids } from "./lanes.suite.ts";
import {
  end,
  env,
  everyWrite,
  fn,
  newEvent,
  type OpenStore,
  openWorld,
  plainRerun,
  runJob,
  startFlow,
  startPair,
  type World,
} from "./world.ts";

interface Batched extends Partial<StartPair> {
  readonly on?: string;
  readonly size?: number;
  readonly bytesMax?: number;
  readonly more?: Partial<StartFlow>;
}
const batch = ({ on = "{}", size = 3, bytesMax = 1_000_000, more, ...over }: Batched = {}): Partial<StartPair> => ({
  flow: startFlow({ buffer: { kind: "batch", key: on, maxSize: size, timeoutMs: 100, bytesMax }, ...more }),
  ...over,
});

/** One event `e…` whose run would be `r…`. */
const send = (world: World, n: number | string, over: Batched = {}, event: Partial<NewEvent> = {}) =>
  world.ingest([newEvent(`e${n}`, event)], [startPair(`r${n}`, batch(over))]);

const carried = async (world: World, runId: string) => (await world.memo(runId)).events.map(({ id }) => id);
const kinds = (world: World, ...events: string[]) =>
  Promise.all(events.map(async (id) => (await world.decision(id)).kind));

export function batchesSuite(open: OpenStore): void {
  describe("batches", () => {
    test("the event that fills a batch starts its run, in the same commit", async () => {
      const world = await openWorld(open);
      expect(await send(world, 1)).toMatchObject({
        decisions: [{ kind: "batched", runId: null }],
        queued: false,
        dueAt: world.clock.wallMs() + 100,
      });
      await send(world, 2);
      const full = await send(world, 3);
      const started = { kind: "started", runId: "r1", reason: "in a batch of 3" };
      expect(full).toMatchObject({ decisions: [{ eventId: "e3", ...started }], queued: true });
      expect(await world.decision("e1")).toMatchObject(started);
      const job = runJob((await world.lease()).jobs[0]);
      expect(job.memo.run).toMatchObject({ id: "r1", eventId: "e1", key: null });
      expect(job.memo.event).toMatchObject({ id: "e1" });
      expect(job.memo.events.map(({ id }) => id)).toEqual(["e1", "e2", "e3"]);
    });

    test("the event after a full batch opens the next one", async () => {
      const world = await openWorld(open);
      const events = [1, 2, 3, 4, 5].map((n) => newEvent(`e${n}`));
      const pairs = events.map((_, event) => startPair(`r${event + 1}`, batch({ event, size: 2 })));
      const { decisions } = await world.ingest(events, pairs);
      expect(decisions.map(({ kind, runId }) => [kind, runId])).toEqual([
        ["started", "r1"],
        ["started", "r1"],
        ["started", "r3"],
        ["started", "r3"],
        ["batched", null],
      ]);
    });

    test("of many at once every batch has its size, and each event is in one of them", async () => {
      const world = await openWorld(open);
      await Promise.all(Array.from({ length: 11 }, (_, n) => send(world, n, { size: 5 })));
      world.clock.advance(100);
      const { jobs } = await world.lease();
      const events = jobs.map((job) => runJob(job).memo.events.map(({ id }) => id));
      expect(events.map((list) => list.length).sort()).toEqual([1, 5, 5]);
      expect(new Set(events.flat()).size).toBe(11);
    });

    test("one that does not fill starts when its time is over, counted from its first event", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      await send(world, 1);
      world.clock.advance(60);
      await send(world, 2);
      expect(await world.lease()).toMatchObject({ jobs: [], nextDueAt: now + 100 });
      world.clock.advance(40);
      expect(ids(await world.lease())).toEqual(["r1"]);
      expect(await carried(world, "r1")).toEqual(["e1", "e2"]);
      // Its time is over once: what fills the next one is a batch of its own.
      for (const n of [3, 4, 5]) await send(world, n);
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual(["r3"]);
    });

    test("it starts when its data is as large as it may be", async () => {
      const world = await openWorld(open);
      const data = JSON.stringify("x".repeat(38));
      for (const n of [1, 2]) await send(world, n, { size: 100, bytesMax: 100 }, { data });
      expect(await world.decision("e1")).toMatchObject({ kind: "batched" });
      await send(world, 3, { size: 100, bytesMax: 100 }, { data });
      expect(await carried(world, "r1")).toEqual(["e1", "e2", "e3"]);
    });

    test("its subject is its events in any order, and its generation the first of them", async () => {
      const world = await openWorld(open);
      await send(world, 1, {}, { callerId: "z" });
      await send(world, 2);
      await send(world, 3, {}, { callerId: "a" });
      expect(await world.run("r1")).toMatchObject({ subject: '["a","e2","z"]', generation: "e1" });
    });

    test("each key, each function and each environment fills its own", async () => {
      const world = await openWorld(open);
      await send(world, 1, { on: "1", size: 2 });
      await send(world, 2, { on: "2", size: 2 });
      await send(world, 3, { on: "1", size: 2, fn: "shop-other" });
      await world.ingest([newEvent("e4")], [startPair("r4", batch({ on: "1", size: 2 }))], { env: "elsewhere" });
      expect(await world.store.reads.runs(env, { limit: 10 })).toEqual([]);
    });

    test("a duplicate event does not count", async () => {
      const world = await openWorld(open);
      await send(world, 1, { size: 2 }, { callerId: "id" });
      await send(world, 2, { size: 2 }, { callerId: "id" });
      expect(await kinds(world, "e1", "e2")).toEqual(["batched", "duplicate-event"]);
      await send(world, 3, { size: 2 });
      expect(await carried(world, "r1")).toEqual(["e1", "e3"]);
    });

    test("a function paused meanwhile starts nothing: its events wait for a person", async () => {
      const world = await openWorld(open);
      await world.register({ [fn]: [] });
      for (const n of [1, 2]) await send(world, n);
      await world.store.pause({ env, fn, paused: true, reason: "" });
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual([]);
      expect(await kinds(world, "e1", "e2")).toEqual(["paused", "paused"]);
    });

    test("a rerun carries the same events", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3]) await send(world, n, { key: `"${n}"` });
      const [job] = (await world.lease()).jobs;
      await world.advance("r1", { fence: job!.fence, next: end("failed") });
      await world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "again", rank: 0, leaseTo: null });
      expect(await carried(world, "again")).toEqual(["e1", "e2", "e3"]);
      expect(await world.claimOf('"2"')).toMatchObject({ holder: "again" });
    });

    test("an open batch keeps all its events, however old", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3]) await send(world, n);
      world.clock.advance(100 * dayMs);
      const prune = () => world.store.prune({ env, before: world.clock.wallMs(), after: "", max: 500 });
      expect(await prune()).toMatchObject({ deleted: { events: 0 }, kept: 3 });
      const [job] = (await world.lease()).jobs;
      await world.advance("r1", { fence: job!.fence, next: end("completed") });
      world.clock.advance(1);
      await prune();
      await prune();
      expect(await world.store.reads.events(env, { limit: 10 })).toEqual([]);
    });

    everyWrite(
      open,
      "ingest into a batch",
      async (world) => {
        await send(world, 1, { size: 2, key: '"a"' });
        return () => send(world, 2, { size: 2, key: '"b"' });
      },
      ({ decisions }) => decisions,
    );
  });

  describe("keys in a batch", () => {
    test("each key is taken by the batch, and by none of it before the run starts", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await send(world, n, { key: `"${n}"` });
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
      await send(world, 3);
      for (const n of [1, 2]) {
        expect(await world.claimOf(`"${n}"`)).toMatchObject({ holder: "r1", generation: "r1", asked: 1 });
        expect(await world.decision(`e${n}`)).toMatchObject({
          key: `"${n}"`,
          windowEndsAt: world.clock.wallMs() + dayMs,
        });
      }
      expect(await world.start("later", { key: '"2"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
    });

    test("what another run has is not carried, and neither is a key the batch has already", async () => {
      const world = await openWorld(open);
      await world.start("first", { key: '"taken"' });
      await send(world, 1, { size: 4, key: '"taken"' });
      await send(world, 2, { size: 4, key: '"a"' });
      await send(world, 3, { size: 4, key: '"a"' });
      await send(world, 4, { size: 4 });
      // The run has the id the first event of the buffer was given, though that event is not in it.
      expect(await world.decision("e1")).toMatchObject({
        kind: "duplicate-key",
        reason: 'key "taken" is taken by run first',
        runId: "first",
      });
      expect(await world.decision("e2")).toMatchObject({ kind: "started", runId: "r1", reason: "in a batch of 2" });
      expect(await world.decision("e3")).toMatchObject({
        kind: "duplicate-key",
        reason: 'key "a" is already in this batch (run r1)',
        runId: "r1",
      });
      expect(await carried(world, "r1")).toEqual(["e2", "e4"]);
      expect(await world.run("r1")).toMatchObject({ eventId: "e2", generation: "e2" });
    });

    test("where every key is taken no run starts", async () => {
      const world = await openWorld(open);
      await world.start("first", { key: '"taken"' });
      for (const n of [1, 2, 3]) await send(world, n, { key: '"taken"' });
      expect(await kinds(world, "e1", "e2", "e3")).toEqual(["duplicate-key", "duplicate-key", "duplicate-key"]);
      expect(ids(await world.lease())).toEqual(["first"]);
    });

    test("where a limit refuses the run, all are refused and no key is taken", async () => {
      const world = await openWorld(open);
      const more = { rateLimit: { id: "rate", limit: 1, periodMs: 1_000 } };
      await world.start("first", { flow: startFlow(more) });
      for (const n of [1, 2]) await send(world, n, { key: '"a"', more });
      await send(world, 3, { key: '"b"', more });
      for (const id of ["e1", "e2", "e3"]) {
        expect(await world.decision(id)).toMatchObject({ kind: "rate-limited", runId: null });
      }
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
    });

    test("all keys are held while the run is open and let go with its end, or given back with its failure", async () => {
      const world = await openWorld(open);
      const fill = async (round: string) => {
        for (const n of [1, 2]) await send(world, `${round}${n}`, { size: 2, key: `"${n}"`, windowMs: 0, hold: true });
        const [job] = (await world.lease()).jobs;
        return job!.fence;
      };
      const fence = await fill("a");
      for (const n of [1, 2]) expect(await world.start(`x${n}`, { key: `"${n}"` })).toMatchObject({ runId: "ra1" });
      await world.advance("ra1", { fence, next: end("completed") });
      await world.advance("rb1", { fence: await fill("b"), next: end("failed", "null", true) });
      for (const n of [1, 2]) expect(await world.start(`y${n}`, { key: `"${n}"` })).toMatchObject({ kind: "started" });
    });

    test("a failure that gives keys back gives back all of them, in the same generation", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await send(world, n, { size: 2, key: `"${n}"` });
      const [job] = (await world.lease()).jobs;
      await world.advance("r1", { fence: job!.fence, next: end("failed", "null", true) });
      for (const n of [1, 2]) {
        expect(await world.start(`again ${n}`, { key: `"${n}"` })).toMatchObject({ kind: "started" });
        expect(await world.run(`again ${n}`)).toMatchObject({ generation: "r1", previousRunId: "r1" });
      }
    });

    test("a duplicate is compared with the event that brought its key, not with the first of the batch", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await send(world, n, { size: 2, key: `"${n}"` }, { data: `${n}` });
      const { decisions, firsts } = await world.ingest(
        [newEvent("e9", { data: "2" })],
        [startPair("r9", { key: '"2"' })],
      );
      expect(decisions).toMatchObject([{ kind: "duplicate-key", runId: "r1", firstEventId: "e2" }]);
      expect(firsts).toEqual([]);
    });
  });
}
