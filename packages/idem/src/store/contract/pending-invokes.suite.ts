// A step that invokes a function waits also while it is not decided whether a run starts: for the run that answers in the end, or
// for the reason why there is none.
import { describe, expect, test } from "vitest";
import type { BufferRule, StartFlow } from "../../flow/plan.ts";
import type { Outcome } from "../../model/step.ts";
import type { NewPair, StartPair } from "../ingest.ts";
import {
  decidedPair,
  end,
  env,
  everyWrite,
  fn,
  forever,
  newEvent,
  type OpenStore,
  openWorld,
  runWait,
  startFlow,
  startPair,
  value,
  type World,
} from "./world.ts";

const debounce: BufferRule = { kind: "debounce", key: "{}", periodMs: 100, timeoutMs: null };
const batch: BufferRule = { kind: "batch", key: "{}", maxSize: 2, timeoutMs: 100, bytesMax: 1_000 };
const buffered = (runId: string, buffer: BufferRule, more: Partial<StartFlow> = {}, over: Partial<StartPair> = {}) =>
  startPair(runId, { flow: startFlow({ buffer, ...more }), ...over });

/** A parent that invoked by this pair and sleeps. */
async function invoke(world: World, pair: NewPair, parent = "parent", timeoutAt: number | null = null) {
  await world.startLeased(parent);
  const ingest = { registration: null, events: [newEvent(`invoke ${parent}`)], pairs: [pair] };
  return world.advance(parent, { waits: [runWait("s", { timeoutAt })], ingest, next: forever });
}
const finish = async (world: World, runId: string, result: string) => {
  const { jobs } = await world.lease("w2");
  const job = jobs.find(({ jobId }) => jobId === runId);
  return world.advance(runId, { worker: "w2", fence: job!.fence, next: end("completed", result) });
};
const notStarted = (reason: string): Outcome => ({
  kind: "error",
  json: JSON.stringify({ name: "Error", message: `Function "${fn}" was not started: ${reason}` }),
});
const redecide = (world: World, pair: NewPair) =>
  world.store.redecide({ env, registration: null, eventId: "invoke parent", pair, reason: "" });

export function pendingInvokesSuite(open: OpenStore): void {
  describe("invoking what is not decided yet", () => {
    test("while the decision is pending the step waits, under a name that says for what", async () => {
      const world = await openWorld(open);
      for (const [parent, pair] of Object.entries({
        debounced: buffered("r1", debounce),
        batched: buffered("r2", batch),
        paused: decidedPair({ kind: "paused" }),
        held: decidedPair({ kind: "held" }),
      })) {
        expect(await invoke(world, pair, parent)).toMatchObject({ leased: false, news: [] });
        expect((await world.memo(parent)).waits).toMatchObject([
          { kind: "run", stepId: "s", childRunId: `event:invoke ${parent}:${fn}` },
        ]);
      }
    });

    test("once the silence is over it waits for the run, and gets its value", async () => {
      const world = await openWorld(open);
      await invoke(world, buffered("child", debounce));
      world.clock.advance(100);
      await finish(world, "child", "42");
      expect(await world.outcome("parent", "s")).toEqual(value(42));
      expect(await world.run("parent")).toMatchObject({ state: "queued" });
    });

    test("one whose event was superseded gets the answer of the run that was started instead", async () => {
      const world = await openWorld(open);
      await invoke(world, buffered("r1", debounce), "p1");
      await invoke(world, buffered("r2", debounce), "p2");
      world.clock.advance(100);
      await finish(world, "r2", "42");
      for (const parent of ["p1", "p2"]) expect(await world.outcome(parent, "s")).toEqual(value(42));
    });

    test("all whose events are in a batch get its answer", async () => {
      const world = await openWorld(open);
      await invoke(world, buffered("r1", batch), "p1");
      await invoke(world, buffered("r2", batch), "p2");
      expect((await world.memo("p1")).waits).toMatchObject([{ childRunId: "r1" }]);
      const { woken } = await finish(world, "r1", "42");
      expect(woken.map(({ runId }) => runId)).toEqual(["p1", "p2"]);
      expect(await world.outcome("p2", "s")).toEqual(value(42));
    });

    test("a key that a finished run has gives that run's value at once", async () => {
      const world = await openWorld(open);
      await world.startLeased("first", { key: '"k"' });
      await invoke(world, buffered("child", debounce, {}, { key: '"k"' }));
      await world.advance("first", { next: end("completed", "42") });
      world.clock.advance(100);
      expect((await world.lease("w2")).jobs).toMatchObject([{ jobId: "parent" }]);
      expect(await world.outcome("parent", "s")).toEqual(value(42));
    });

    test("where no run is started the step fails with the reason", async () => {
      const world = await openWorld(open);
      const more = { rateLimit: { id: "rate", limit: 1, periodMs: 1_000 } };
      await world.start("first", { flow: startFlow(more), leaseTo: "w1" });
      await invoke(world, buffered("child", debounce, more));
      world.clock.advance(100);
      await world.lease("w2");
      const { kind, reason } = await world.decision("invoke parent");
      expect(kind).toBe("rate-limited");
      expect(await world.outcome("parent", "s")).toEqual(notStarted(reason!));
    });

    test("where a singleton is in the way the step fails, and does not get that run's answer", async () => {
      const world = await openWorld(open);
      const singleton = { key: "{}", mode: "skip" } as const;
      await world.start("first", { flow: startFlow({ singleton }), leaseTo: "w1" });
      await invoke(world, buffered("child", debounce, { singleton }));
      world.clock.advance(100);
      await world.lease("w2");
      expect(await world.outcome("parent", "s")).toEqual(
        notStarted("run first of the same singleton key is still open"),
      );
    });

    test("released by a person it gets the run's value; dropped, the person's reason", async () => {
      for (const kind of ["paused", "held"] as const) {
        const released = await openWorld(open);
        await invoke(released, decidedPair({ kind }));
        await redecide(released, startPair("child"));
        await finish(released, "child", "42");
        expect(await released.outcome("parent", "s")).toEqual(value(42));

        const dropped = await openWorld(open);
        await invoke(dropped, decidedPair({ kind }));
        expect(await redecide(dropped, decidedPair({ kind: "dropped", reason: "not wanted" }))).toMatchObject({
          queued: true,
        });
        expect(await dropped.outcome("parent", "s")).toEqual(notStarted("not wanted"));
      }
    });

    test("a function paused before its buffer was due keeps the step waiting for a person", async () => {
      const world = await openWorld(open);
      await world.register({ [fn]: [] });
      await invoke(world, buffered("child", debounce));
      await world.store.pause({ env, fn, paused: true, reason: "" });
      world.clock.advance(100);
      await world.lease("w2");
      expect((await world.memo("parent")).waits).toMatchObject([{ childRunId: `event:invoke parent:${fn}` }]);
      await redecide(world, startPair("child"));
      expect((await world.memo("parent")).waits).toMatchObject([{ childRunId: "child" }]);
    });

    test("its timeout is its timeout, also while nothing is decided; what is decided later wakes nobody", async () => {
      const world = await openWorld(open);
      await invoke(world, buffered("child", debounce), "parent", world.clock.wallMs() + 10);
      world.clock.advance(10);
      expect((await world.lease("w2")).jobs).toMatchObject([{ jobId: "parent" }]);
      expect(await world.outcome("parent", "s")).toEqual(value("timed out"));
      world.clock.advance(90);
      expect(await finish(world, "child", "42")).toMatchObject({ woken: [] });
      expect(await world.outcome("parent", "s")).toEqual(value("timed out"));
    });

    everyWrite(
      open,
      "invoke of a debounced function",
      async (world) => {
        await world.startLeased("parent");
        const pairs = [buffered("child", debounce)];
        const ingest = { registration: null, events: [newEvent("invoke")], pairs };
        return () => world.advance("parent", { waits: [runWait("s")], ingest });
      },
      ({ news, leased, ingested }) => ({ news, leased, decisions: ingested!.decisions }),
    );
  });
}
