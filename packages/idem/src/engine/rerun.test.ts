import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../model/user-errors.ts";
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

  test("with other data it is about the same thing: the same keys, past the key, and audited; the event keeps its data", async () => {
    const keys: string[] = [];
    const run = await oneRun(
      async ({ event, step }) => {
        await step.run("write", ({ key }) => keys.push(key));
        if (event.data.mail === undefined) throw new NonRetriableError("no mail");
        return [event.id, event.data];
      },
      { store, event: { id: "order-7", data: { order: 7 } }, fn: { idempotency: "event.data.order" } },
    );
    expect(await run.end()).toMatchObject({ state: "failed" });
    const data = { order: 7, mail: "kim@example.org" };
    const { runId } = await run.idem.runs.rerun(run.runId, { data, actor: "kim" });
    expect((await run.idem.runs.wait(runId)).output).toEqual(["order-7", data]);
    expect(keys[0]).toBe(keys[1]);
    expect(await run.idem.runs.get(runId)).toMatchObject({ rerunOf: run.runId, key: "7" });
    expect((await run.idem.events.get("order-7"))!.data).toEqual({ order: 7 });
    // A rerun of that one has its data.
    const again = await run.idem.runs.rerun(runId);
    expect((await run.idem.runs.wait(again.runId)).output).toEqual(["order-7", data]);
    // Data that is about something else starts nothing.
    const other = (given: Record<string, unknown>) => run.idem.runs.rerun(run.runId, { data: given });
    await expect(other({ order: 8 })).rejects.toMatchObject({ code: "RERUN_OTHER_KEY" });
    await expect(other({})).rejects.toMatchObject({ code: "RERUN_OTHER_KEY" });
    await expect(run.idem.runs.rerun(run.runId, { data, fromStep: "write" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    expect(await run.idem.runs.list({ limit: 100 })).toHaveLength(3);
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

describe.each(stores)("rerun from a step on %s", (store) => {
  /** Three steps in a row; the second one fails for good as long as `broken`. */
  async function threeSteps() {
    const world = { entered: [] as string[], keys: [] as string[], broken: true };
    const run = await oneRun(
      async ({ step }) => {
        const price = await step.run("price", () => {
          world.entered.push("price");
          return 10;
        });
        const charge = await step.run(
          "charge",
          (amount: number, { key }: { key: string }) => {
            world.entered.push(`charge ${amount}`);
            world.keys.push(key);
            if (world.broken) throw new NonRetriableError("declined");
            return `charged ${amount}`;
          },
          price,
        );
        await step.run("mail", () => {
          world.entered.push("mail");
        });
        return charge;
      },
      { store, fn: { idempotency: "event.data.order" }, event: { data: { order: 7 } } },
    );
    expect(await run.end()).toMatchObject({ state: "failed" });
    world.broken = false;
    world.entered.length = 0;
    return { ...run, world };
  }

  test("enters no step recorded before it, and hands the same destination key to those it enters", async () => {
    const { idem, runId: old, world } = await threeSteps();
    const { runId } = await idem.runs.rerun(old, { fromStep: "charge" });
    expect(await idem.runs.wait(runId)).toMatchObject({ state: "completed", output: "charged 10" });
    expect(world.entered).toEqual(["charge 10", "mail"]);
    expect(world.keys[0]).toBe(world.keys[1]);
    const rerun = (await idem.runs.get(runId))!;
    expect(rerun).toMatchObject({ rerunOf: old, rerunFrom: { name: "charge", keptCount: 1 }, key: "7" });
    expect(rerun.timeline.map(({ name, isKept }) => [name, isKept])).toEqual([
      ["price", true],
      ["charge", false],
      ["mail", false],
    ]);
    expect((await idem.explain(runId)).summary.join(" ")).toContain(
      "A person asked for run 2: it reruns run 1 from step charge on, with one recorded step kept.",
    );
  });

  test("an edited input takes the place of the step's own arguments", async () => {
    const { idem, runId: old, world } = await threeSteps();
    const { runId } = await idem.runs.rerun(old, { fromStep: "charge", input: [42] });
    expect(await idem.runs.wait(runId)).toMatchObject({ output: "charged 42" });
    expect(world.entered).toEqual(["charge 42", "mail"]);
    expect(world.keys[0]).toBe(world.keys[1]);
  });

  test("the first step keeps nothing", async () => {
    const { idem, runId: old, world } = await threeSteps();
    const { runId } = await idem.runs.rerun(old, { fromStep: "price" });
    expect(await idem.runs.wait(runId)).toMatchObject({ output: "charged 10" });
    expect(world.entered).toEqual(["price", "charge 10", "mail"]);
  });

  test("a step whose callback takes no arguments refuses an edited input instead of losing its context", async () => {
    const { idem, runId: old, world } = await threeSteps();
    const { runId } = await idem.runs.rerun(old, { fromStep: "price", input: [1] });
    const end = await idem.runs.wait(runId);
    expect(end).toMatchObject({ state: "failed", error: { message: expect.stringContaining("STEP_INVALID") } });
    expect(world.entered).toEqual([]);
  });

  test("a step the run never met, an input without a step, or one for a wait is refused", async () => {
    const run = await oneRun(
      async ({ step }) => {
        await step.sleep("nap", "1m");
        for (const n of [1, 2]) await step.run("each", (value: number, _: unknown) => value, n);
      },
      { store },
    );
    await run.end();
    const refused = (options: object) => expect(run.idem.runs.rerun(run.runId, options)).rejects;
    await refused({ fromStep: "nobody" }).toMatchObject({ code: "RUN_STEP_UNKNOWN" });
    await refused({ input: [1] }).toMatchObject({ code: "OPTION_INVALID" });
    await refused({ fromStep: "nap", input: [1] }).toMatchObject({ code: "OPTION_INVALID" });
    await refused({ fromStep: "each", input: { a: 1 } }).toMatchObject({ code: "OPTION_INVALID" });
    const second = await run.idem.runs.rerun(run.runId, { fromStep: "each:1" });
    expect((await run.idem.runs.get(second.runId))!.rerunFrom).toMatchObject({ name: "each", keptCount: 2 });
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
