import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { readRunGroup } from "./read-run-group.ts";
import { rerunRun } from "./rerun-run.ts";

describe.each(stores)("the group of a run over /api on %s", (store) => {
  async function agency() {
    const world = await apiWorld({ store });
    await world.start({
      draft: { on: "placement/event", run: async ({ step }) => step.run("draft", () => ({ id: "in_1" })) },
      pay: { on: "payment/made", options: { idempotency: "event.data.payment" }, run: async () => "paid" },
    });
    return world;
  }

  test("of a function without a key, the second run for one thing says that it slipped through", async () => {
    const world = await agency();
    const runs: string[] = [];
    for (const placementId of [48_213, 48_214, 48_215]) {
      for (const eventType of ["INSERTED", "UPDATED"]) {
        runs.push((await world.send({ name: "placement/event", data: { placementId, eventType, rate: 92.5 } })).runId);
        await world.advance(800);
      }
    }
    await world.idle();
    const { group } = (await world.ask(readRunGroup, { params: { run: runs[1]! } })).body;
    expect(group).toMatchObject({ label: "placementId 48213", isGuess: true, isLoud: true, runCount: 2, gapMs: 800 });
    expect(group.runs.map(({ id, kind }: any) => [id, kind])).toEqual([
      [runs[0], "first"],
      [runs[1], "slipped"],
    ]);
  });

  test("a rerun belongs to the run it was made from and is not loud", async () => {
    const world = await agency();
    const { runId } = await world.send({ name: "payment/made", data: { payment: "pi_1" } });
    await world.idle();
    const { body } = await world.ask(rerunRun, { params: { run: runId }, body: {} });
    await world.idle();
    const { group } = (await world.ask(readRunGroup, { params: { run: body.runId } })).body;
    expect(group).toMatchObject({
      label: "payment pi_1",
      isLoud: false,
      runCount: 2,
      counts: { reruns: 1, slipped: 0 },
    });
  });

  test("a run that nobody knows has no group", async () => {
    const world = await agency();
    expect((await world.ask(readRunGroup, { params: { run: "01ARZ3NDEKTSV4RRFFQ69G5FAV" } })).status).toBe(404);
  });
});
