// A rerun may begin at a step: what was recorded before it comes along, and a person may edit what the step is given.
import { describe, expect, test } from "vitest";
import {
  end,
  env,
  everyWrite,
  newAttempt,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  value,
  type World,
} from "./world.ts";

const from = (stepId: string, input: string | null = null) => ({ stepId, name: `name of ${stepId}`, input });

const rerun = (world: World, runId: string, newRunId: string, over: object, leaseTo: string | null = null) =>
  world.store.rerun({ ...plainRerun, env, runId, newRunId, rank: 0, leaseTo, ...over });

/** A run that recorded a, b and c, in that order, and failed. */
async function startRecorded(world: World): Promise<void> {
  await world.startLeased("r1", { key: '"k"' });
  for (const id of ["a", "b", "c"]) await world.advance("r1", { steps: [newStep(id)] });
  await world.advance("r1", { attempts: [newAttempt("d", 1)], next: end("failed") });
}

const stepsOf = async (world: World, runId: string) => (await world.memo(runId)).steps.map(({ stepId }) => stepId);

export function rerunFromSuite(open: OpenStore): void {
  describe("rerun from a step", () => {
    test("outcomes recorded before the step come along as they were; the step's own and later ones do not", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      expect(await rerun(world, "r1", "r2", { from: from("c") })).toEqual({
        kind: "started",
        runId: "r2",
        leased: null,
      });
      const old = await world.memo("r1");
      const memo = await world.memo("r2");
      expect(memo.steps).toEqual(old.steps.slice(0, 2));
      expect(memo).toMatchObject({
        run: { rerunOf: "r1", rerunFrom: { stepId: "c", name: "name of c", keptCount: 2 }, state: "queued" },
        attempts: [],
        waits: [],
        inputs: {},
      });
      expect(old.run.rerunFrom).toBeNull();
      expect(await stepsOf(world, "r1")).toEqual(["a", "b", "c"]);
    });

    test("it has the old run's event, key, subject and generation, and takes the key over", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      await rerun(world, "r1", "r2", { from: from("b") });
      const { eventId, key, subject, generation } = await world.run("r1");
      expect(await world.run("r2")).toMatchObject({ eventId, key, subject, generation });
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r2" });
    });

    test("a step that never got an outcome comes after all that did", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      await rerun(world, "r1", "r2", { from: from("d") });
      expect(await stepsOf(world, "r2")).toEqual(["a", "b", "c"]);
    });

    test("an edited input is in the memo of whoever leases the run, born leased or not", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      const answer = await rerun(world, "r1", "r2", { from: from("b", "[7]") }, "w1");
      expect(answer).toMatchObject({ leased: { memo: { inputs: { b: "[7]" }, steps: [{ stepId: "a" }] } } });
      await rerun(world, "r1", "r3", { from: from("b", "[8]") });
      const { jobs } = await world.lease("w2");
      expect(jobs).toMatchObject([{ memo: { run: { id: "r3" }, inputs: { b: "[8]" }, steps: [{ stepId: "a" }] } }]);
    });

    test("a rerun from a step of such a run keeps the inputs it was given, until others are", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      await rerun(world, "r1", "r2", { from: from("b", "[7]") });
      await rerun(world, "r2", "r3", { from: from("b") });
      await rerun(world, "r2", "r4", { from: from("b", "[9]") });
      await rerun(world, "r2", "r5", {});
      expect((await world.memo("r3")).inputs).toEqual({ b: "[7]" });
      expect((await world.memo("r4")).inputs).toEqual({ b: "[9]" });
      expect(await world.memo("r5")).toMatchObject({ inputs: {}, steps: [], run: { rerunFrom: null } });
    });

    test("steps recorded afterwards come after the ones that came along", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      await rerun(world, "r1", "r2", { from: from("b") }, "w1");
      await world.advance("r2", { steps: [newStep("b", { outcome: value("again") })] });
      expect(await stepsOf(world, "r2")).toEqual(["a", "b"]);
      expect(await world.outcome("r2", "b")).toEqual(value("again"));
      expect(await world.outcome("r1", "b")).toEqual(value("from b"));
    });

    everyWrite(open, "rerun from a step", async (world) => {
      await startRecorded(world);
      return () => rerun(world, "r1", "r2", { from: from("b", "[1]") });
    });

    test("other data takes the place of the event's, in this rerun and in reruns of it; the event and the old run keep theirs", async () => {
      const world = await openWorld(open);
      await startRecorded(world);
      const { data: before } = (await world.memo("r1")).event;
      await rerun(world, "r1", "r2", { data: '{"price":11}' });
      await rerun(world, "r2", "r3", {});
      await rerun(world, "r2", "r4", { from: from("a", "[7]") });
      expect(await world.memo("r2")).toMatchObject({
        run: { rerunOf: "r1", rerunFrom: null },
        hasOtherData: true,
        event: { data: '{"price":11}' },
        events: [{ data: '{"price":11}' }],
        inputs: {},
      });
      expect(await world.memo("r3")).toMatchObject({ hasOtherData: true, event: { data: '{"price":11}' }, inputs: {} });
      expect(await world.memo("r4")).toMatchObject({ event: { data: '{"price":11}' }, inputs: { a: "[7]" } });
      const old = await world.memo("r1");
      expect([old.event.data, old.hasOtherData]).toEqual([before, undefined]);
      const { key, subject, generation, eventId } = old.run;
      expect(await world.run("r2")).toMatchObject({ key, subject, generation, eventId });
      expect((await world.store.reads.event(env, eventId))?.data).toBe(before);
    });
  });
}
