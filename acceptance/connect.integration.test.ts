// Workers that connect: the same functions without an address (docs/reference/wire.md#workers-that-connect).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { type Checkpointing, checkpointing } from "./traces.suite.ts";
import { World } from "./world.ts";

const kinds = Object.keys(checkpointing) as Checkpointing[];
const apps = kinds.map(
  (kind): HostedApp => ({ id: kind, adapter: "node", functions: ["traces", "tools", "flow"], ...checkpointing[kind] }),
);

/** What a run of each function ends with, and how often each of its steps is entered. */
const outcomes: readonly [string, object, readonly string[]][] = [
  ["sequential", { status: "Completed", output: { sum: 3 } }, ["a", "b"]],
  ["parallel", { status: "Completed", output: ["p1", "p2", "p3"] }, ["p1", "p2", "p3", "post", "post2", "pre"]],
  ["sleep", { status: "Completed", output: "b" }, ["a", "b"]],
  ["mixed", { status: "Completed", output: ["m1", null, "m1b"] }, ["m1", "m1b"]],
  ["invoke", { status: "Completed", output: [42, "childbad"] }, []],
  ["retries", { status: "Completed", output: "done" }, ["flaky", "flaky", "flaky"]],
  ["fail", { status: "Failed", output: { message: "kaput" } }, ["boom", "boom"]],
  ["nested", { status: "Completed", output: [5, 20] }, ["a1", "a2", "a3", "a4", "b1", "b2"]],
  ["lengthy", { status: "Completed", output: ["l1", "l2", "l3", "l4"] }, ["l1", "l2", "l3", "l4"]],
];

describe.each(["dev", "start"] as const)("with idem %s", (mode) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode, by: "connect", apps });
  });
  afterAll(() => world?.close());

  describe.concurrent.each(kinds)("and checkpointing %s", (kind) => {
    test.each(outcomes)("%s ends as it does over HTTP", async (fn, end, steps) => {
      const runId = await world.rest.start(`${kind}/${fn}`, { n: 7 });
      expect(await world.rest.end(runId)).toMatchObject(end);
      expect(world.entered(runId).toSorted()).toEqual(steps);
    });

    test("race ends with the first one", async () => {
      const runId = await world.rest.start(`${kind}/race`);
      await world.host.until((line) => line.kind === "enter" && line.run === runId && line.step === "slow");
      await world.rest.until(`/api/runs/${runId}`, ({ run }) =>
        run.timeline.some(
          ({ name, state }: { name: string; state: string }) => name === "fast" && state === "completed",
        ),
      );
      world.host.release(runId);
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "fast" });
      expect(world.entered(runId).toSorted()).toEqual(["fast", "slow"]);
    });
  });

  test("limits hold for workers too: a full batch is one run, and one run at a time is at work", async () => {
    const ids = await world.rest.send("default/gathers-some", [
      { by: 1, bulk: true, n: 1 },
      { by: 1, bulk: true, n: 2 },
    ]);
    const { runId } = await world.rest.decided(ids[1]!, "default-gathers-some", "started");
    expect(await world.rest.end(runId!)).toMatchObject({ output: { event: ids[0], events: ids, data: [1, 2] } });
    const alone = await world.rest.send("default/alone", [{ k: 1 }, { k: 1 }, { k: 1 }]);
    const runs = await Promise.all(alone.map((id) => world.rest.runOf(id, "default-alone")));
    for (const run of runs) expect(await world.rest.end(run)).toMatchObject({ status: "Completed" });
    const said = world.ledger.flatMap((line) => (line.kind === "note" && runs.includes(line.run) ? [line.text] : []));
    expect(said).toEqual(Array.from({ length: 6 }, () => ["in 1", "out 1"]).flat());
  });

  test("a worker that is killed in the middle of a step is followed by another, which enters only that step again", async () => {
    const runId = await world.rest.start("default/holds");
    await world.host.until((line) => line.kind === "enter" && line.run === runId && line.step === "held");
    await world.killHost();
    await world.startHost();
    await world.host.until((line) => line.kind === "enter" && line.run === runId && line.step === "held");
    world.host.release(runId);
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "after" });
    expect(world.entered(runId)).toEqual(["before", "held", "held", "after"]);
  });
});
