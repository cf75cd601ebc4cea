// Events kept until it is silent, and one run for the newest of them. What it does for a key is done when the run is started.
import { describe, expect, test } from "vitest";
import type { StartFlow } from "../../flow/plan.ts";
import { isPending } from "../../model/decision.ts";
import type { NewEvent, StartPair } from "../ingest.ts";
import { ids } from "./lanes.suite.ts";
import { env, everyWrite, fn, newEvent, type OpenStore, openWorld, startFlow, startPair, type World } from "./world.ts";

interface Debounced extends Partial<StartPair> {
  readonly on?: string;
  readonly timeoutMs?: number;
  readonly more?: Partial<StartFlow>;
}
const debounce = ({ on = "{}", timeoutMs, more, ...over }: Debounced = {}): Partial<StartPair> => ({
  flow: startFlow({ buffer: { kind: "debounce", key: on, periodMs: 100, timeoutMs: timeoutMs ?? null }, ...more }),
  ...over,
});

/** One event `e…` whose run would be `r…`. */
const send = async (world: World, n: number | string, over: Debounced = {}, event: Partial<NewEvent> = {}) =>
  world.ingest([newEvent(`e${n}`, { ts: Number(n), ...event })], [startPair(`r${n}`, debounce(over))]);

const runIds = async (world: World) => (await world.store.reads.runs(env, { limit: 500 })).map(({ id }) => id).sort();

export function debounceSuite(open: OpenStore): void {
  describe("debounce", () => {
    test("an event waits for its silence, and then a run starts for it", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      const ingested = await send(world, 1, { key: '"k"' });
      expect(ingested).toMatchObject({
        decisions: [{ kind: "debounced", runId: null }],
        leased: [],
        queued: false,
        dueAt: now + 100,
      });
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
      world.clock.advance(99);
      expect(await world.lease()).toMatchObject({ jobs: [], nextDueAt: now + 100 });
      world.clock.advance(1);
      expect(await world.lease()).toMatchObject({
        jobs: [{ jobId: "r1", memo: { event: { id: "e1" } } }],
        nextDueAt: null,
      });
      expect(await world.decision("e1")).toMatchObject({ kind: "started", runId: "r1", key: '"k"' });
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r1" });
    });

    test("each newer event moves the run, which is for the last one; the others name it and the event that came after them", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2, 3]) {
        const { dueAt } = await send(world, n);
        expect(dueAt).toBe(world.clock.wallMs() + 100);
        world.clock.advance(60);
      }
      expect(ids(await world.lease())).toEqual([]);
      world.clock.advance(40);
      expect(ids(await world.lease())).toEqual(["r3"]);
      expect(await runIds(world)).toEqual(["r3"]);
      expect(await world.decision("e3")).toMatchObject({ kind: "started", runId: "r3" });
      for (const id of ["e1", "e2"]) {
        expect(await world.decision(id)).toMatchObject({
          kind: "debounced",
          runId: "r3",
          reason: "superseded by event e3",
        });
      }
    });

    test("it starts at the latest when the time since its first event is over", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      for (const n of [1, 2, 3, 4]) {
        await send(world, n, { timeoutMs: 250 });
        world.clock.advance(80);
        const due = await world.lease();
        expect([due.nextDueAt, ids(due)]).toEqual(
          n < 4 ? [Math.min(now + n * 80 + 20, now + 250), []] : [null, ["r4"]],
        );
      }
    });

    test("an event older than the newest neither replaces it nor extends the silence", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      await send(world, 5);
      world.clock.advance(60);
      await send(world, 4);
      expect((await world.lease()).nextDueAt).toBe(now + 100);
      world.clock.advance(40);
      expect(ids(await world.lease())).toEqual(["r5"]);
      expect(await world.decision("e4")).toMatchObject({
        kind: "debounced",
        runId: "r5",
        reason: "superseded by event e5",
      });
    });

    test("of events of one instant the last to arrive counts", async () => {
      const world = await openWorld(open);
      await world.ingest(
        [1, 2, 3].map((n) => newEvent(`e${n}`, { ts: 7 })),
        [1, 2, 3].map((n, event) => startPair(`r${n}`, debounce({ event }))),
      );
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual(["r3"]);
    });

    test("a duplicate event neither replaces nor extends, and has no run while the first has none", async () => {
      const world = await openWorld(open);
      await send(world, 1, {}, { callerId: "id" });
      world.clock.advance(60);
      const again = await send(world, 2, {}, { callerId: "id" });
      expect(again).toMatchObject({ decisions: [{ kind: "duplicate-event", runId: null }], dueAt: null });
      world.clock.advance(40);
      expect(ids(await world.lease())).toEqual(["r1"]);
    });

    test("each key, each function and each environment has its own silence", async () => {
      const world = await openWorld(open);
      await send(world, 1, { on: "1" });
      await send(world, 2, { on: "2" });
      await send(world, 3, { on: "1", fn: "shop-other" });
      await world.ingest([newEvent("e1")], [startPair("r1", debounce({ on: "1" }))], { env: "elsewhere" });
      world.clock.advance(100);
      expect(ids(await world.lease()).sort()).toEqual(["r1", "r2"]);
      expect(ids(await world.lease("w1", { functions: ["shop-other"] }))).toEqual(["r3"]);
      expect(ids(await world.lease("w1", { env: "elsewhere" }))).toEqual(["r1"]);
    });

    test("after a run has started the next event begins a new silence", async () => {
      const world = await openWorld(open);
      await send(world, 1);
      world.clock.advance(100);
      await world.lease();
      expect(await send(world, 2)).toMatchObject({ decisions: [{ kind: "debounced", runId: null }] });
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual(["r2"]);
    });

    test("whoever leases next starts what is due, though it may not run it", async () => {
      const world = await openWorld(open);
      await send(world, 1);
      world.clock.advance(100);
      expect(ids(await world.lease("w1", { functions: [] }))).toEqual([]);
      expect(await world.decision("e1")).toMatchObject({ kind: "started" });
      expect(await world.run("r1")).toMatchObject({ state: "queued" });
    });

    test("of many that are due a lease starts a part, says that there are more, and the next goes on", async () => {
      const world = await openWorld(open);
      const keys = Array.from({ length: 130 }, (_, n) => n);
      await world.ingest(
        keys.map((n) => newEvent(`e${n}`)),
        keys.map((n, event) => startPair(`r${n}`, debounce({ event, on: `${n}` }))),
      );
      world.clock.advance(100);
      const first = await world.lease("w1", { max: 1_000 });
      expect(first.jobs).toHaveLength(100);
      expect(first.nextDueAt).toBeLessThanOrEqual(first.now);
      expect((await world.lease("w1", { max: 1_000 })).jobs).toHaveLength(30);
    });

    test("a key that was taken meanwhile starts nothing: all of them name the run that has it", async () => {
      const world = await openWorld(open);
      for (const n of [1, 2]) await send(world, n, { key: '"k"' });
      await world.start("first", { key: '"k"' });
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual(["first"]);
      expect(await world.decision("e2")).toMatchObject({ kind: "duplicate-key", runId: "first" });
      expect(await world.decision("e1")).toMatchObject({
        kind: "debounced",
        runId: "first",
        reason: "superseded by event e2",
      });
    });

    test("where a limit refuses the run, nothing stays pending and no key is taken", async () => {
      const world = await openWorld(open);
      const more = { rateLimit: { id: "rate", limit: 1, periodMs: 1_000 } };
      await world.start("first", { flow: startFlow(more) });
      for (const n of [1, 2]) await send(world, n, { key: '"k"', more });
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual(["first"]);
      expect(await world.decision("e2")).toMatchObject({ kind: "rate-limited", runId: null });
      const superseded = await world.decision("e1");
      expect(superseded).toMatchObject({ runId: null, reason: expect.stringContaining("superseded by event e2") });
      expect(isPending(superseded)).toBe(false);
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
    });

    test("a function paused meanwhile starts nothing: its events wait for a person", async () => {
      const world = await openWorld(open);
      await world.register({ [fn]: [] });
      for (const n of [1, 2]) await send(world, n);
      await world.store.pause({ env, fn, paused: true, reason: "" });
      world.clock.advance(100);
      expect(ids(await world.lease())).toEqual([]);
      for (const id of ["e1", "e2"]) expect(await world.decision(id)).toMatchObject({ kind: "paused", runId: null });
      await world.store.pause({ env, fn, paused: false, reason: "" });
      expect(ids(await world.lease())).toEqual([]);
    });

    test("events in a buffer are pending, and no pruning takes them", async () => {
      const world = await openWorld(open);
      await send(world, 1, { timeoutMs: 10 });
      await send(world, 2, { on: "other" });
      const pending = async () => {
        const { rows } = await world.store.reads.decisionPage(env, { isPending: true, limit: 10, examinedMax: 100 });
        return rows.map(({ eventId }) => eventId);
      };
      expect(await pending()).toEqual(["e2", "e1"]);
      world.clock.advance(50);
      await world.store.prune({ env, before: world.clock.wallMs(), after: "", max: 500 });
      expect(await pending()).toEqual(["e2", "e1"]);
      await world.lease();
      expect(await pending()).toEqual(["e2"]);
    });

    everyWrite(
      open,
      "ingest into a debounce",
      async (world) => {
        await send(world, 1);
        return () => send(world, 2);
      },
      ({ decisions }) => decisions,
    );
  });
}
