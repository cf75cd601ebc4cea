import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("code changes while runs are open, on %s", (store) => {
  test("a removed step is ignored, an added one runs, and the others keep their outcomes", async () => {
    const entered: string[] = [];
    let version = 1;
    const run = await oneRun(
      async ({ step }) => {
        const mark = (name: string) => step.run(name, () => entered.push(`${name} v${version}`));
        await mark("kept");
        if (version === 1) await mark("removed");
        if (version === 2) await mark("added before");
        await step.sleep("nap", "1h");
        if (version === 2) await mark("added after");
        return "done";
      },
      { store },
    );
    await run.idem.idle();
    version = 2;
    expect(await run.end()).toMatchObject({ state: "completed", output: "done" });
    expect(entered).toEqual(["kept v1", "removed v1", "added before v2", "added after v2"]);
  });
});

test("a run whose function this process lacks waits, and the process that has it finishes it", async () => {
  const world = testIdem();
  const { idem, clock } = world;
  const entered: string[] = [];
  idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
    await step.run("before", () => entered.push("before"));
    await step.sleep("nap", "1h");
  });
  await idem.start();
  const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
  await idem.idle();
  await idem.stop();

  const lacks = world.client();
  lacks.createFunction({ id: "other" }, { event: "a/other" }, async () => null);
  await lacks.start();
  await clock.advance("2h");
  await clock.tick("3s");
  expect(await lacks.runs.get(runId!)).toMatchObject({ endedAt: null, error: null });

  const has = world.client();
  has.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
    await step.run("before", () => entered.push("before again"));
    await step.sleep("nap", "1h");
    return step.run("after", () => entered.push("after"));
  });
  await has.start();
  await clock.tick("3s");
  expect(await has.runs.wait(runId!)).toMatchObject({ state: "completed" });
  expect(entered).toEqual(["before", "after"]);
});

test("a process that only sends decides with the functions that are registered", async () => {
  const world = testIdem();
  world.idem.createFunction(
    { id: "fn", idempotency: "event.data.order" },
    { event: "a/b", if: "event.data.order > 0" },
    async ({ event }) => event.data.order,
  );
  await world.idem.start();
  const sender = world.client();
  const send = async (order: number) => (await sender.send({ name: "a/b", data: { order } })).decisions[0]!;
  const first = await send(7);
  expect(first).toMatchObject({ function: "fn", kind: "started", key: "7" });
  expect(await send(7)).toMatchObject({ kind: "duplicate-key", runId: first.runId });
  expect(await send(0)).toMatchObject({ kind: "filtered" });
  await world.clock.tick("2s");
  expect(await sender.runs.wait(first.runId!)).toMatchObject({ state: "completed", output: 7 });
});

test("a sender learns of functions that were registered after it began", async () => {
  const world = testIdem();
  const sender = world.client();
  expect(await sender.send({ name: "a/b" })).toMatchObject({ unmatched: true, decisions: [] });
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
  await world.idem.start();
  expect((await sender.send({ name: "a/b" })).decisions).toMatchObject([{ function: "fn", kind: "started" }]);
});

test("a function defined after start is registered before anything is sent", async () => {
  const { idem } = testIdem();
  await idem.start();
  expect(await idem.send({ name: "a/b" })).toMatchObject({ unmatched: true });
  idem.createFunction({ id: "late" }, { event: "a/b" }, async () => "late");
  const { decisions } = await idem.send({ name: "a/b" });
  expect(decisions).toMatchObject([{ function: "late", kind: "started" }]);
  expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ output: "late" });
});

test("a function of another app's name is refused, and the store is free for the next try", async () => {
  const world = testIdem();
  world.idem.createFunction({ id: "b-fn" }, { event: "a/b" }, async () => null);
  await world.idem.start();
  const clash = world.client({ id: "test-b" });
  clash.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
  await expect(clash.start()).rejects.toMatchObject({ code: "FUNCTION_INVALID" });
  await expect(clash.send({ name: "a/b" })).rejects.toMatchObject({ code: "FUNCTION_INVALID" });
});

test("a new configuration applies to the next event", async () => {
  const world = testIdem();
  const define = (window: string) => {
    const idem = world.client();
    idem.createFunction({ id: "fn", idempotency: { key: "event.data.k", window } }, { event: "a/b" }, async () => null);
    return idem;
  };
  const old = define("1h");
  await old.start();
  const send = async (k: number) => (await old.send({ name: "a/b", data: { k } })).decisions[0]!;
  expect((await send(1)).windowEndsAt).toBe(world.clock.now() + 3_600_000);
  await define("2h").start();
  expect((await send(2)).windowEndsAt).toBe(world.clock.now() + 7_200_000);
});
