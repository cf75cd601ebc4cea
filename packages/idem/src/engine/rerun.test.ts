import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("rerun on %s", (store) => {
  test("makes a linked run of the same event, past its id and key, with the same destination keys", async () => {
    const keys: string[] = [];
    const run = await oneRun(
      async ({ event, step }) => {
        await step.run("write", ({ key }) => keys.push(key));
        return [event.id, event.data.order, keys.length];
      },
      { store, event: { id: "order-7", data: { order: 7 } }, fn: { idempotency: "event.data.order" } },
    );
    expect((await run.end()).output).toEqual(["order-7", 7, 1]);
    const { runId } = await run.idem.runs.rerun(run.runId);
    expect(runId).not.toBe(run.runId);
    expect((await run.idem.runs.wait(runId)).output).toEqual(["order-7", 7, 2]);
    expect(keys[0]).toBe(keys[1]);
    const again = (await run.idem.runs.get(runId))!;
    expect(again).toMatchObject({ rerunOf: run.runId, key: "7" });
    expect(again.eventId).toBe((await run.idem.runs.get(run.runId))!.eventId);
  });

  test("afterwards duplicates of the event and of the key receive the newest run", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "fn", idempotency: "event.data.order" }, { event: "a/b" }, async () => null);
    await idem.start();
    const send = async (id: string) => (await idem.send({ id, name: "a/b", data: { order: 7 } })).decisions[0]!;
    const first = await send("e1");
    await idem.idle();
    const second = await idem.runs.rerun(first.runId!);
    const third = await idem.runs.rerun(second.runId);
    expect(await send("e1")).toMatchObject({ kind: "duplicate-event", runId: third.runId });
    expect(await send("e2")).toMatchObject({ kind: "duplicate-key", runId: third.runId });
  });

  test("a failed run can be rerun while it keeps its key", async () => {
    let broken = true;
    const run = await oneRun(
      async () => {
        if (broken) throw new Error("broken");
        return "mended";
      },
      { store, fn: { retries: 0, idempotency: "event.data.n" }, event: { data: { n: 1 } } },
    );
    expect(await run.end()).toMatchObject({ state: "failed" });
    broken = false;
    const { runId } = await run.idem.runs.rerun(run.runId);
    expect(await run.idem.runs.wait(runId)).toMatchObject({ state: "completed", output: "mended" });
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "failed" });
  });
});

test("rerunning what is not there is an error", async () => {
  const { idem } = testIdem();
  await expect(idem.runs.rerun("01NOBODY")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
});

test("a client that only sends may ask for a rerun; whoever has the code runs it", async () => {
  const world = testIdem();
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => step.run("x", () => "ran"));
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "a/b" })).decisions[0]!;
  await world.idem.idle();
  const desk = world.client();
  const rerun = await desk.runs.rerun(runId!);
  await world.clock.tick("2s");
  expect(await desk.runs.wait(rerun.runId)).toMatchObject({ state: "completed", output: "ran" });
});
