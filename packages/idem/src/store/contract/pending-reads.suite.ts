// Reads for people and metrics: events that wait to be decided, and those that were decided without anybody sending anything.
import { describe, expect, test } from "vitest";
import type { BufferRule } from "../../flow/plan.ts";
import {
  decidedPair,
  env,
  fn,
  newEvent,
  type OpenStore,
  openWorld,
  startFlow,
  startPair,
  type World,
} from "./world.ts";

const batch: BufferRule = { kind: "batch", key: '"a"', maxSize: 3, timeoutMs: 100, bytesMax: 1_000_000 };
const debounce: BufferRule = { kind: "debounce", key: '"a"', periodMs: 100, timeoutMs: null };

const send = (world: World, n: number, buffer: BufferRule, ts = 0) =>
  world.ingest([newEvent(`e${n}`, { ts })], [startPair(`r${n}`, { flow: startFlow({ buffer }) })]);

export function pendingReadsSuite(open: OpenStore): void {
  describe("reads of what is pending", () => {
    test("a batch says how many are in it and when it becomes a run; once it is one, there is none", async () => {
      const world = await openWorld(open);
      const { reads } = world.store;
      expect(await reads.buffer(env, fn, "batch", '"a"')).toBeNull();
      const dueAt = world.clock.wallMs() + 100;
      await send(world, 1, batch);
      world.clock.advance(10);
      await send(world, 2, batch);
      const use = { kind: "batch", count: 2, dueAt, newestEventId: null };
      expect(await reads.buffer(env, fn, "batch", '"a"')).toEqual(use);
      expect(await reads.buffer(env, fn, "batch", '"b"')).toBeNull();
      expect(await reads.buffer(env, fn, "debounce", '"a"')).toBeNull();
      expect(await reads.buffer("other", fn, "batch", '"a"')).toBeNull();
      await send(world, 3, batch);
      expect(await reads.buffer(env, fn, "batch", '"a"')).toBeNull();
    });

    test("a debounce names the event its run will start with, the newest by its sender's word", async () => {
      const world = await openWorld(open);
      await send(world, 1, debounce, 20);
      world.clock.advance(10);
      await send(world, 2, debounce, 10);
      const use = { kind: "debounce", count: 2, dueAt: world.clock.wallMs() + 90, newestEventId: "e1" };
      expect(await world.store.reads.buffer(env, fn, "debounce", '"a"')).toEqual(use);
    });

    test("what waits is counted by kind, in its environment, until it is decided", async () => {
      const world = await openWorld(open);
      const { reads } = world.store;
      expect(await reads.pendingCounts(env)).toEqual({});
      await send(world, 1, batch);
      await send(world, 2, batch);
      await world.ingest([newEvent("e3")], [decidedPair({ kind: "held" })]);
      await world.ingest([newEvent("e4")], [decidedPair({ kind: "paused" })]);
      await world.ingest([newEvent("e5")], [startPair("r5")]);
      await send(world, 6, debounce);
      expect(await reads.pendingCounts(env)).toEqual({ batched: 2, held: 1, paused: 1, debounced: 1 });
      expect(await reads.pendingCounts("other")).toEqual({});
      world.clock.advance(100);
      await world.lease();
      expect(await reads.pendingCounts(env)).toEqual({ held: 1, paused: 1 });
    });

    test("whoever leases is told what became of the buffers that were due; superseded events are not told again", async () => {
      const world = await openWorld(open);
      await send(world, 1, batch);
      await send(world, 2, batch);
      await send(world, 3, debounce);
      await send(world, 4, debounce);
      world.clock.advance(100);
      expect((await world.lease()).flushed).toEqual({ decided: { started: 3 }, cancelled: [] });
      expect((await world.lease()).flushed).toBeUndefined();
    });

    test("the call that fills a batch is told what became of the events of earlier calls", async () => {
      const world = await openWorld(open);
      expect((await send(world, 1, batch)).redecided).toBeUndefined();
      const events = [newEvent("e2"), newEvent("e3")];
      const pairs = events.map((_, event) => startPair(`r${event + 2}`, { event, flow: startFlow({ buffer: batch }) }));
      const filled = await world.ingest(events, pairs);
      expect(filled.decisions.map(({ kind }) => kind)).toEqual(["started", "started"]);
      expect(filled.redecided).toEqual({ started: 1 });
    });
  });
}
