// Events that cancel runs: every open run keeps its rules until it ends, and the store finds whom an event may concern.
import { describe, expect, test } from "vitest";
import type { CancelRule } from "../../flow/cancel-on/plan.ts";
import type { NewEvent, StartPair } from "../ingest.ts";
import {
  end,
  env,
  eventWait,
  newEvent,
  type OpenStore,
  openWorld,
  plainRerun,
  startFlow,
  startPair,
  type World,
} from "./world.ts";

const cancelled = "order/cancelled";
const rule = (over: Partial<CancelRule> = {}): CancelRule => ({
  eventName: cancelled,
  path: "",
  value: "",
  rest: null,
  lastsMs: null,
  ...over,
});
const withRules = (...cancelOn: CancelRule[]): Partial<StartPair> => ({ flow: startFlow({ cancelOn }) });
const order = (id: string) => rule({ path: "data.order", value: `"${id}"` });

const arrive = (world: World, id: string, over: Partial<NewEvent> = {}, at = env) =>
  world.ingest([newEvent(id, { name: cancelled, ...over })], [], { env: at });
const candidates = async (world: World, eventId: string, probes: { path: string; value: string }[] = [], at = env) =>
  (await world.store.reads.cancelCandidates(at, eventId, probes)).map(({ runId, rest }) => `${runId}: ${rest}`).sort();

export function cancelRulesSuite(open: OpenStore): void {
  describe("cancelling events", () => {
    test("an event may cancel the open runs that name it, and comes with each run's own event and what is left to ask", async () => {
      const world = await openWorld(open);
      await world.start("r1", withRules(rule({ rest: "async.data.total > event.data.total" })));
      await world.start("r2", withRules(rule({ eventName: "order/other" })));
      await world.start("r3");
      await arrive(world, "e1");
      expect(await world.store.reads.cancelCandidates(env, "e1", [])).toEqual([
        {
          runId: "r1",
          rest: "async.data.total > event.data.total",
          event: await world.store.reads.event(env, "event of r1"),
        },
      ]);
    });

    test("of many runs only those whose equality holds are found, and the paths to ask for are told", async () => {
      const world = await openWorld(open);
      for (const id of ["a", "b", "c"]) await world.start(`run-${id}`, withRules(order(id)));
      await world.start("any", withRules(rule()));
      await world.startWaiting("waiting", [eventWait("s", { eventName: cancelled, path: "data.user", value: "1" })]);
      expect(await world.store.reads.waitPaths(env, cancelled)).toEqual(["", "data.order", "data.user"]);
      await arrive(world, "e1");
      expect(await candidates(world, "e1", [{ path: "data.order", value: '"b"' }])).toEqual([
        "any: null",
        "run-b: null",
      ]);
      expect(await candidates(world, "e1")).toEqual(["any: null"]);
    });

    test("an event that only cancels is delivered too, and one that concerns nobody is not", async () => {
      const world = await openWorld(open);
      await world.start("r1", { ...withRules(order("a")), leaseTo: "w1" });
      const delivered = await world.ingest([newEvent("e1", { name: cancelled })], [], { leaseTo: "w1" });
      expect(delivered.leased).toMatchObject([{ kind: "deliver", jobId: "deliver:e1" }]);
      await world.advance("r1", { next: end("completed") });
      const none = await world.ingest([newEvent("e2", { name: cancelled })], [], { leaseTo: "w1" });
      expect(none.leased).toEqual([]);
      expect(await world.store.reads.waitPaths(env, cancelled)).toEqual([]);
    });

    test("an event received before the run was created does not count, not even the one that started it", async () => {
      const world = await openWorld(open);
      await arrive(world, "before");
      await world.ingest([newEvent("self", { name: cancelled })], [startPair("r1", withRules(rule()))]);
      await arrive(world, "after");
      for (const id of ["before", "self"]) expect(await candidates(world, id)).toEqual([]);
      expect(await candidates(world, "after")).toEqual(["r1: null"]);
    });

    test("a rule counts as long as it lasts, judged by when the event was received", async () => {
      const world = await openWorld(open);
      await world.start("r1", withRules(rule({ lastsMs: 100 })));
      world.clock.advance(99);
      await arrive(world, "in time");
      world.clock.advance(1);
      await arrive(world, "late");
      world.clock.advance(1_000);
      expect(await candidates(world, "in time")).toEqual(["r1: null"]);
      expect(await candidates(world, "late")).toEqual([]);
    });

    test("a run that has ended is nobody's candidate, however it ended", async () => {
      const world = await openWorld(open);
      for (const id of ["r1", "r2"]) await world.start(id, { ...withRules(rule()), leaseTo: "w1" });
      await world.start("r3", withRules(rule()));
      await arrive(world, "e1");
      await world.advance("r1", { next: end("completed") });
      await world.store.cancel({ env, runId: "r2", result: "null", releaseKey: false, ingest: null });
      expect(await candidates(world, "e1")).toEqual(["r3: null"]);
    });

    test("a run may be named by several events, each rule on its own", async () => {
      const world = await openWorld(open);
      await world.start("r1", withRules(order("a"), rule({ rest: "async.data.all" }), rule({ eventName: "stop" })));
      await arrive(world, "e1");
      expect(await candidates(world, "e1", [{ path: "data.order", value: '"a"' }])).toEqual([
        "r1: async.data.all",
        "r1: null",
      ]);
      await arrive(world, "e2", { name: "stop" });
      expect(await candidates(world, "e2")).toEqual(["r1: null"]);
    });

    test("a rerun keeps the rules it was asked with", async () => {
      const world = await openWorld(open);
      await world.start("r1", { ...withRules(rule()), leaseTo: "w1" });
      await world.advance("r1", { next: end("failed") });
      const cancelOn = [order("a")];
      await world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null, cancelOn });
      await arrive(world, "e1");
      expect(await candidates(world, "e1", [{ path: "data.order", value: '"a"' }])).toEqual(["r2: null"]);
    });

    test("an event of one environment concerns no run of another", async () => {
      const world = await openWorld(open);
      await world.start("r1", withRules(rule()));
      const { queued } = await arrive(world, "e1", {}, "elsewhere");
      expect(queued).toBe(false);
      expect(await candidates(world, "e1", [], "elsewhere")).toEqual([]);
      expect(await world.store.reads.waitPaths("elsewhere", cancelled)).toEqual([]);
    });
  });
}
