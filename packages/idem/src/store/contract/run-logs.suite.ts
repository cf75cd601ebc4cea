// Lines of a run's code: written by the commit that makes them true, once, up to a bound, and gone with their run.
import { describe, expect, test } from "vitest";
import { runLogBytesMax } from "../../model/log-line.ts";
import { dayMs } from "../../model/window.ts";
import {
  end,
  env,
  everyWrite,
  forever,
  newAttempt,
  newStep,
  type OpenStore,
  openWorld,
  signalWait,
  type World,
} from "./world.ts";

const log = (part: string, text = `lines of ${part}`) => ({ part, text });
const kept = async ({ store }: World, runId = "r1") => {
  const found = await store.reads.runLog(env, runId);
  return found === null ? null : { ...found, parts: [...found.parts].sort() };
};

export function runLogsSuite(open: OpenStore): void {
  describe("lines of a run", () => {
    test("come with whatever the run commits: a step, an attempt, a wait, its end", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      expect(await kept(world)).toEqual({ parts: [], isFull: false });
      await world.advance("r1", { steps: [newStep("a")], log: log("1") });
      await world.advance("r1", { steps: [newStep("b")] });
      await world.advance("r1", { attempts: [newAttempt("c", 1)], log: log("2") });
      await world.advance("r1", { waits: [signalWait("d", "go")], log: log("3") });
      await world.advance("r1", { next: end("completed"), log: log("4") });
      expect(await kept(world)).toEqual({ parts: [1, 2, 3, 4].map((n) => `lines of ${n}`), isFull: false });
      expect(await kept(world, "nobody")).toBeNull();
    });

    test("steps of many runs that are recorded at once bring each their own", async () => {
      const world = await openWorld(open);
      const runs = ["r1", "r2", "r3"];
      for (const runId of runs) await world.startLeased(runId);
      const save = (runId: string, i: number) =>
        world.advance(runId, { steps: [newStep("a")], ...(i === 1 ? {} : { log: log(runId) }) });
      await Promise.all(runs.map(save));
      expect(await Promise.all(runs.map((runId) => kept(world, runId)))).toEqual(
        runs.map((runId, i) => ({ parts: i === 1 ? [] : [`lines of ${runId}`], isFull: false })),
      );
    });

    test("ends of many runs at once bring each their own", async () => {
      const world = await openWorld(open);
      const runs = ["r1", "r2", "r3"];
      for (const runId of runs) await world.startLeased(runId);
      await world.advance("r3", { steps: [newStep("a")], log: log("full", "x".repeat(runLogBytesMax)) });
      const finish = (runId: string, i: number) =>
        world.advance(runId, { next: end("completed"), ...(i === 1 ? {} : { log: log(runId) }) });
      await Promise.all(runs.map(finish));
      expect(await kept(world, "r1")).toEqual({ parts: ["lines of r1"], isFull: false });
      expect(await kept(world, "r2")).toEqual({ parts: [], isFull: false });
      expect(await kept(world, "r3")).toEqual({ parts: ["x".repeat(runLogBytesMax)], isFull: true });
    });

    test("of a patch that is refused nothing is kept", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      expect(await world.tryAdvance("r1", { fence: 2, steps: [newStep("a")], log: log("1") })).toEqual({
        kind: "fenced",
      });
      await world.advance("r1", { next: end("completed") });
      expect((await world.tryAdvance("r1", { steps: [newStep("a")], log: log("2") })).kind).toBe("ended");
      expect(await kept(world)).toEqual({ parts: [], isFull: false });
    });

    test("a run keeps a bounded number of bytes, and says so", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const third = "x".repeat(Math.floor(runLogBytesMax / 3));
      for (const part of ["1", "2", "3"]) await world.advance("r1", { steps: [newStep(part)], log: log(part, third) });
      expect(await kept(world)).toEqual({ parts: [third, third, third], isFull: false });
      await world.advance("r1", { attempts: [newAttempt("c", 1)], log: log("4", third) });
      await world.advance("r1", { steps: [newStep("5")], log: log("5", "short") });
      expect(await kept(world)).toEqual({ parts: [third, third, third], isFull: true });
    });

    test("go with their run, within what one commit may delete", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      for (const part of ["1", "2", "3"]) await world.advance("r1", { steps: [newStep(part)], log: log(part) });
      await world.advance("r1", { next: end("completed") });
      world.clock.advance(10 * dayMs);
      const prune = (max: number) => world.store.prune({ env, before: world.clock.wallMs(), after: "", max });
      expect((await prune(5)).deleted).toMatchObject({ steps: 3, logs: 2, runs: 0 });
      expect((await prune(5)).deleted).toMatchObject({ steps: 0, logs: 1, runs: 1 });
      expect(await kept(world)).toBeNull();
    });

    everyWrite(
      open,
      "advance with lines",
      async (world) => {
        await world.startLeased("r1");
        return () => world.tryAdvance("r1", { waits: [signalWait("s", "go")], next: forever, log: log("1") });
      },
      null,
    );
  });
}
