// Each step's input, the run it invoked, and the values an open run has made: kept for people, read by no lease.
import { describe, expect, test } from "vitest";
import {
  collect,
  end,
  env,
  everyWrite,
  failure,
  forever,
  newAttempt,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  runJob,
  runWait,
  signalWait,
  startPair,
  timeWait,
  value,
  type World,
} from "./world.ts";

const given = async (world: World, runId: string, bytesMax = 1_000) => {
  const rows = await world.store.reads.stepInputs(env, runId, bytesMax);
  return Object.fromEntries(rows.map(({ stepId, ...row }) => [stepId, row]));
};

const kept = (input: string, childRunId: string | null = null) => ({ input, inputBytes: input.length, childRunId });

export function stepInputsSuite(open: OpenStore): void {
  describe("what steps were given", () => {
    test("a step's input is kept with its outcome, and none costs no row", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("alone", { input: "[7]" })] });
      await world.advance("r1", {
        steps: [newStep("a", { input: '["a"]' }), newStep("b", { outcome: failure("no") })],
      });
      expect(await given(world, "r1")).toEqual({ alone: kept("[7]"), a: kept('["a"]') });
      expect(await world.store.reads.stepInput(env, "r1", "alone")).toBe("[7]");
      expect(await world.store.reads.stepInput(env, "r1", "b")).toBeNull();
      expect(await world.store.reads.stepInput(env, "r1", "nobody's")).toBeNull();
      expect(await given(world, "r2")).toEqual({});
    });

    test("the first outcome's input stands, as the outcome does", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("s", { input: "[1]" })] });
      await world.advance("r1", { steps: [newStep("s", { input: "[2]" })] });
      expect(await given(world, "r1")).toEqual({ s: kept("[1]") });
    });

    test("a step that failed shows its latest attempt's, until it has an outcome", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", {
        attempts: [newAttempt("s", 1, { input: "[1]" }), newAttempt("s", 2, { input: "[2]" })],
      });
      expect(await given(world, "r1")).toEqual({ s: kept("[2]") });
      expect(await world.store.reads.stepInput(env, "r1", "s")).toBe("[2]");
      await world.advance("r1", { steps: [newStep("s", { input: "[3]" })] });
      expect(await given(world, "r1")).toEqual({ s: kept("[3]") });
      expect(await world.store.reads.stepInput(env, "r1", "s")).toBe("[3]");
    });

    test("a wait's input is there while it waits and stays when it is over, however it ends", async () => {
      const world = await openWorld(open);
      const until = world.clock.wallMs() + 10;
      const input = '{"signal":"go"}';
      await world.startWaiting("r1", [
        { ...timeWait("slept", until), input: '{"until":10}' },
        signalWait("heard", "go", { input }),
      ]);
      expect(await given(world, "r1")).toEqual({ slept: kept('{"until":10}'), heard: kept(input) });
      await world.store.signal(env, "go", value("gone"));
      world.clock.advance(10);
      await world.lease();
      expect((await world.memo("r1")).steps).toHaveLength(2);
      expect(await given(world, "r1")).toEqual({ slept: kept('{"until":10}'), heard: kept(input) });
      // Decided at once, as the signal was taken.
      await world.startWaiting("holder", [signalWait("s", "go")]);
      await world.startLeased("r2");
      await world.advance("r2", { waits: [signalWait("s", "go", { input })] });
      expect(await given(world, "r2")).toEqual({ s: kept(input) });
    });

    test("the run a step invoked is known while it is waited for, and afterwards", async () => {
      const world = await openWorld(open);
      const invoke = (parent: string) => ({
        waits: [runWait("s", { input: '{"function":"f"}' })],
        ingest: {
          registration: null,
          events: [newEvent(`invoke ${parent}`)],
          pairs: [startPair("child", { leaseTo: "w1", key: '"k"' })],
        },
      });
      await world.startLeased("parent");
      await world.advance("parent", { ...invoke("parent"), next: forever });
      expect(await given(world, "parent")).toEqual({ s: kept('{"function":"f"}', "child") });
      await world.advance("child", { next: end("completed") });
      expect(await given(world, "parent")).toEqual({ s: kept('{"function":"f"}', "child") });
      // A child that has ended already answers at once.
      await world.startLeased("late");
      const { news } = await world.advance("late", { ...invoke("late"), next: collect });
      expect(news).toHaveLength(1);
      expect(await given(world, "late")).toEqual({ s: kept('{"function":"f"}', "child") });
    });

    test("of an input larger than asked for, only its size is answered; by itself it is whole", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("s", { input: '["ä"]' })] });
      expect(await given(world, "r1", 5)).toEqual({ s: { input: null, inputBytes: 6, childRunId: null } });
      expect(await given(world, "r1", 6)).toEqual({ s: { input: '["ä"]', inputBytes: 6, childRunId: null } });
      expect(await world.store.reads.stepInput(env, "r1", "s")).toBe('["ä"]');
    });

    test("no memo has it, in a lease or out of one", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", {
        steps: [newStep("s", { input: "[1]" })],
        attempts: [newAttempt("t", 1, { input: "[1]" })],
        waits: [{ ...timeWait("w", world.clock.wallMs() + 10), input: '{"until":10}' }],
        next: forever,
      });
      world.clock.advance(10);
      const leased = runJob((await world.lease()).jobs[0]).memo;
      const memo = await world.memo("r1");
      for (const row of [...leased.steps, ...leased.attempts, ...memo.steps, ...memo.attempts, ...memo.waits]) {
        expect(row).not.toHaveProperty("input");
      }
      expect(leased.steps).toHaveLength(2);
    });

    test("a rerun from a later step keeps what the kept steps were given", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      for (const id of ["a", "b"]) await world.advance("r1", { steps: [newStep(id, { input: `["${id}"]` })] });
      await world.advance("r1", { next: end("failed") });
      const from = { stepId: "b", name: "name of b", input: null };
      await world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null, from });
      expect(await given(world, "r2")).toEqual({ a: kept('["a"]') });
    });

    everyWrite(open, "a step with an input", async (world) => {
      await world.startLeased("r1");
      return () => world.advance("r1", { steps: [newStep("s", { input: "[1]" })] });
    });
  });

  describe("what an open run has made", () => {
    const last = async (world: World, ...runIds: string[]) =>
      [...(await world.store.reads.lastOutcomes(env, runIds))].sort((a, b) => (a.runId < b.runId ? -1 : 1));

    test("is the last value of its own code: sleeps, waits, failures and null tell nothing", async () => {
      const world = await openWorld(open);
      for (const id of ["r1", "r2", "r3"]) await world.startLeased(id);
      await world.advance("r1", { steps: [newStep("first", { outcome: value("in_0") })] });
      await world.advance("r1", {
        steps: [
          newStep("draft", { kind: "effect", outcome: value({ id: "in_1" }) }),
          newStep("slept", { kind: "sleep", outcome: value("slept") }),
          newStep("told", { kind: "send-event", outcome: value({ ids: ["e"] }) }),
          newStep("broke", { outcome: failure("no") }),
          newStep("empty", { outcome: value(null) }),
        ],
      });
      await world.advance("r2", { steps: [newStep("long", { outcome: value("x".repeat(200)) })] });
      expect(await last(world, "r1", "r2", "r3", "nobody")).toEqual([
        { runId: "r1", step: "name of draft", preview: '{"id":"in_1"}' },
        { runId: "r2", step: "name of long", preview: `"${"x".repeat(79)}` },
      ]);
      expect(await last(world)).toEqual([]);
    });
  });
}
