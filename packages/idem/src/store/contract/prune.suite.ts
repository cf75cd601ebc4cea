// Pruning deletes history and nothing that may still be asked for.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import { type PruneInput, prunedNothing } from "../prune.ts";
import {
  decidedPair,
  end,
  env,
  everyWrite,
  newAttempt,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  startFlow,
  timeWait,
  type World,
} from "./world.ts";

const prune = (world: World, over: Partial<PruneInput> = {}) =>
  world.store.prune({ env, before: world.clock.wallMs(), after: "", max: 500, ...over });

async function endedRun(world: World, runId: string, over: Parameters<World["startLeased"]>[1] = {}): Promise<void> {
  await world.startLeased(runId, over);
  await world.advance(runId, {
    steps: [newStep("s1"), newStep("s2")],
    attempts: [newAttempt("s1", 1)],
    next: end("completed"),
  });
}

const runIds = async (world: World) => (await world.store.reads.runs(env, { limit: 100 })).map(({ id }) => id).sort();
const eventIds = async (world: World) =>
  (await world.store.reads.events(env, { limit: 100 })).map(({ id }) => id).sort();

export function pruneSuite(open: OpenStore): void {
  describe("prune", () => {
    test("an old ended run goes with its event, decisions, steps and attempts; a younger one stays", async () => {
      const world = await openWorld(open);
      await endedRun(world, "r1");
      world.clock.advance(10 * dayMs);
      await endedRun(world, "r2");
      expect(await prune(world, { before: world.clock.wallMs() - dayMs })).toMatchObject({
        deleted: { ...prunedNothing, events: 1, runs: 1, steps: 2, attempts: 1, decisions: 1 },
        kept: 0,
        after: null,
      });
      expect(await runIds(world)).toEqual(["r2"]);
      expect(await eventIds(world)).toEqual(["event of r2"]);
      expect(await world.store.reads.decisionsOfEvent(env, "event of r1")).toEqual([]);
    });

    test("an open run keeps its event and all its steps, however old", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [timeWait("s", world.clock.wallMs() + 300 * dayMs)]);
      world.clock.advance(100 * dayMs);
      expect(await prune(world)).toMatchObject({ deleted: { events: 0, runs: 0 }, kept: 1 });
      expect(await world.memo("r1")).toMatchObject({ run: { state: "waiting" } });
    });

    test("a run whose end is still to be told to others is kept until it was", async () => {
      const world = await openWorld(open);
      const flow = startFlow({ singleton: { key: "k", mode: "cancel", result: "{}" } });
      await world.start("r1", { flow });
      await world.start("r2", { flow });
      world.clock.advance(10 * dayMs);
      expect(await prune(world)).toMatchObject({ deleted: { runs: 0 }, kept: 2 });
      const { jobs } = await world.lease("w1");
      const { jobId, fence } = jobs.find(({ kind }) => kind === "announce")!;
      await world.store.resume({ env, jobId, fence, waits: [], outcome: { kind: "value", json: "null" } });
      expect(await prune(world)).toMatchObject({ deleted: { runs: 1 }, kept: 1 });
    });

    test("an ended run with an open rerun is kept together with its event", async () => {
      const world = await openWorld(open);
      await endedRun(world, "r1");
      await world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null });
      world.clock.advance(dayMs);
      expect(await prune(world)).toMatchObject({ deleted: { runs: 0 }, kept: 1 });
      expect(await runIds(world)).toEqual(["r1", "r2"]);
    });

    test("a run that holds an open window answers for its key until the window ends", async () => {
      const world = await openWorld(open);
      await endedRun(world, "r1", { key: '"k"', windowMs: 30 * dayMs });
      world.clock.advance(10 * dayMs);
      expect(await prune(world)).toMatchObject({ deleted: { runs: 0 }, kept: 1 });
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      world.clock.advance(20 * dayMs);
      expect(await prune(world, { before: world.clock.wallMs() - 15 * dayMs })).toMatchObject({ deleted: { runs: 1 } });
    });

    test.each(["event", "webhook"] as const)(
      "an event that holds its id as %s answers for it until the window ends",
      async (idScope) => {
        const world = await openWorld(open);
        await world.ingest([newEvent("e1", { callerId: "order-7", idScope, windowMs: 30 * dayMs })]);
        world.clock.advance(10 * dayMs);
        expect(await prune(world)).toMatchObject({ deleted: { events: 0 }, kept: 1 });
        world.clock.advance(30 * dayMs);
        expect(await prune(world)).toMatchObject({ deleted: { events: 1 }, kept: 0 });
      },
    );

    test("an event held for a person is never pruned", async () => {
      const world = await openWorld(open);
      await world.ingest([newEvent("e1")], [decidedPair({ kind: "held" })]);
      await world.ingest([newEvent("e2")], [decidedPair({ kind: "filtered" })]);
      world.clock.advance(100 * dayMs);
      await prune(world);
      expect(await eventIds(world)).toEqual(["e1"]);
    });

    test("one call deletes no more rows than it may, and the next goes on where it stopped", async () => {
      const world = await openWorld(open);
      for (const id of ["r1", "r2", "r3"]) await endedRun(world, id);
      world.clock.advance(dayMs);
      let after: string | null = "";
      let calls = 0;
      while (after !== null) {
        const answer = await prune(world, { after, max: 4 });
        const { events, runs, steps, attempts, decisions } = answer.deleted;
        expect(events + runs + steps + attempts + decisions).toBeLessThanOrEqual(4);
        after = answer.after;
        calls += 1;
      }
      expect(calls).toBeGreaterThan(3);
      expect(await eventIds(world)).toEqual([]);
      expect(await runIds(world)).toEqual([]);
    });

    test("a family larger than a commit loses its steps over several, and everything else with the last", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", {
        steps: Array.from({ length: 9 }, (_, n) => newStep(`s${n}`)),
        attempts: [newAttempt("a", 1), newAttempt("a", 2), newAttempt("b", 1)],
        next: end("completed"),
      });
      world.clock.advance(dayMs);
      const taken: number[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const answer = await prune(world, { after, max: 5 });
        taken.push(answer.deleted.steps + answer.deleted.attempts);
        if (answer.deleted.runs === 0) expect(await eventIds(world)).toEqual(["event of r1"]);
        after = answer.after;
      }
      expect(taken.reduce((all, each) => all + each)).toBe(12);
      expect(await eventIds(world)).toEqual([]);
    });

    test("a page in which some are needed loses all the others at once, and nothing of those", async () => {
      const world = await openWorld(open);
      const ids = Array.from({ length: 12 }, (_, n) => `r${10 + n}`);
      for (const [n, id] of ids.entries()) {
        if (n % 4 === 0) await world.startWaiting(id, [timeWait("s", world.clock.wallMs() + 300 * dayMs)]);
        else if (n % 4 === 1) await endedRun(world, id, { key: JSON.stringify(id), windowMs: 90 * dayMs });
        else await endedRun(world, id);
      }
      world.clock.advance(10 * dayMs);
      expect(await prune(world, { max: 1_000 })).toMatchObject({
        deleted: { events: 6, runs: 6, steps: 12, attempts: 6, decisions: 6 },
        kept: 6,
        after: null,
      });
      expect(await runIds(world)).toEqual(ids.filter((_, n) => n % 4 < 2));
      for (const id of ids.filter((_, n) => n % 4 === 1)) expect((await world.memo(id)).steps).toHaveLength(2);
    });

    test("it tells up to where nothing is left, and how far it has come: before what stays, old or young", async () => {
      const world = await openWorld(open);
      await endedRun(world, "r1");
      await endedRun(world, "r2");
      await world.startWaiting("r3", [timeWait("s", world.clock.wallMs() + 300 * dayMs)]);
      const receivedAt = world.clock.wallMs();
      await endedRun(world, "r4");
      world.clock.advance(10 * dayMs);
      await endedRun(world, "r5");
      const before = world.clock.wallMs() - dayMs;
      expect(await prune(world, { before, max: 6 })).toMatchObject({ after: "event of r1", clearTo: "event of r1" });
      const answer = await prune(world, { before, after: "event of r1" });
      expect(answer).toMatchObject({ after: null, kept: 1, clearTo: "event of r2", reachedAt: receivedAt });
      expect(await prune(world, { before, after: answer.clearTo })).toMatchObject({ kept: 1, clearTo: "event of r2" });
      expect(await prune(world, { before, after: "event of r3" })).toMatchObject({ kept: 0, clearTo: "event of r3" });
    });

    test("of those who name themselves one at a time prunes; who is gone loses the turn, and a person needs none", async () => {
      const world = await openWorld(open);
      for (const id of ["r1", "r2", "r3"]) await endedRun(world, id);
      world.clock.advance(dayMs);
      const as = (by: string, over: Partial<PruneInput> = {}) =>
        prune(world, { max: 6, turn: { by, ms: 60_000 }, ...over });
      const first = await as("a");
      expect(first).toMatchObject({ othersUntil: null, after: "event of r1" });
      const refused = await as("b");
      expect(refused).toMatchObject({ deleted: prunedNothing, after: "", kept: 0 });
      expect(refused.othersUntil! - world.clock.wallMs()).toBeGreaterThanOrEqual(30_000);
      world.clock.advance(40_000);
      expect(await as("a", { after: first.after!, max: 1 })).toMatchObject({ othersUntil: null });
      world.clock.advance(29_000);
      expect((await as("b")).othersUntil).not.toBeNull();
      // The one that had it died half-way: the next begins where it left off.
      world.clock.advance(60_000);
      expect(await as("b", { max: 500 })).toMatchObject({ othersUntil: null, deleted: { runs: 2 }, after: null });
      expect((await as("a")).othersUntil).not.toBeNull();
      await endedRun(world, "r4");
      world.clock.advance(1);
      expect(await prune(world)).toMatchObject({ deleted: { runs: 1 }, othersUntil: null });
    });

    everyWrite(
      open,
      "prune",
      async (world) => {
        await endedRun(world, "r1");
        world.clock.advance(dayMs);
        return () => prune(world);
      },
      null,
    );
  });
}
