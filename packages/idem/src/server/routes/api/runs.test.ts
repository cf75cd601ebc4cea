import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../../../model/user-errors.ts";
import { held } from "../../../testing/one-run.suite.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { cancelRun } from "./cancel-run.ts";
import { listRuns } from "./list-runs.ts";
import { readRun } from "./read-run.ts";
import { readRunInput } from "./read-run-input.ts";
import { readRunOutput } from "./read-run-output.ts";
import { readStepOutput } from "./read-step-output.ts";
import { previewRerun, rerunRun } from "./rerun-run.ts";

const hour = 3_600_000;

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", retries: 0 },
      run: async ({ event, step }) => {
        const price = await step.run("price", () => event.data.price ?? 10);
        return step.run(
          "pay",
          (amount: number, _: unknown) => {
            if (amount < 0) throw new NonRetriableError("declined");
            return { paid: amount };
          },
          price,
        );
      },
    },
    remind: { on: "trial/started", run: async ({ step }) => step.sleep("week", "7d") },
  });
  return world;
}

describe.each(stores)("runs over /api on %s", (store) => {
  test("runs are listed by function, state, key, event and time, newest first", async () => {
    const world = await shop(store);
    const paid = await world.send({ name: "order/paid", data: { order: 7 } });
    const declined = await world.send({ name: "order/paid", data: { order: "7", price: -1 } });
    await world.advance(hour);
    const trial = await world.send({ name: "trial/started" });
    await world.idle();
    const names = new Map([
      [paid.runId, "paid"],
      [declined.runId, "declined"],
      [trial.runId, "trial"],
    ]);
    const list = async (query: Record<string, string | number>) =>
      (await world.ask(listRuns, { query })).body.runs.map(({ id }: any) => names.get(id));
    expect(await list({})).toEqual(["trial", "declined", "paid"]);
    expect(await list({ function: "shop-charge" })).toEqual(["declined", "paid"]);
    expect(await list({ state: "failed" })).toEqual(["declined"]);
    expect(await list({ state: "waiting" })).toEqual(["trial"]);
    expect(await list({ open: "true" })).toEqual(["trial"]);
    expect(await list({ event: paid.eventId })).toEqual(["paid"]);
    expect(await list({ function: "shop-charge", key: '"7"' })).toEqual(["declined"]);
    expect(await list({ since: "30m" })).toEqual(["trial"]);
    expect(await list({ until: "30m" })).toEqual(["declined", "paid"]);
    const { body } = await world.ask(listRuns, { query: { state: "completed" } });
    expect(body.runs[0]).toMatchObject({ function: "shop-charge", key: "7", preview: '{"paid":10}' });
  });

  test("a bad value or an unknown parameter is refused by its name", async () => {
    const world = await shop(store);
    for (const [query, name] of [
      [{ state: "broken" }, "state"],
      [{ limit: 501 }, "limit"],
      [{ since: "last week" }, "since"],
      [{ key: "7" }, "key"],
      [{ functoin: "a" }, "functoin"],
    ] as const) {
      const { status, body } = await world.ask(listRuns, { query: query as any });
      expect([status, body.code]).toEqual([400, "REQUEST_INVALID"]);
      expect(body.error).toContain(`"${name}"`);
    }
  });

  test("a run is read with its timeline, its event and what it spared", async () => {
    const world = await shop(store);
    const { runId, eventId } = await world.send({ name: "order/paid", data: { order: 7 } });
    await world.send({ name: "order/paid", data: { order: 7 } });
    await world.idle();
    const { body } = await world.ask(readRun, { params: { run: runId } });
    expect(body).toMatchObject({
      run: {
        id: runId,
        state: "completed",
        output: { value: { paid: 10 }, isOmitted: false },
        error: null,
        timeline: [
          { name: "price", kind: "run", state: "completed", output: { value: 10, bytes: 2 }, isKept: false },
          {
            name: "pay",
            output: { value: { paid: 10 } },
            attempts: [{ attempt: 1, error: null }],
            input: { value: [10] },
          },
        ],
      },
      event: { internalId: eventId },
      spared: [{ kind: "duplicate-key", runId }],
    });
    expect(await world.ask(readRun, { params: { run: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("a failed run tells its error and the step's", async () => {
    const world = await shop(store);
    const { runId } = await world.send({ name: "order/paid", data: { order: 7, price: -1 } });
    await world.idle();
    expect((await world.ask(readRun, { params: { run: runId } })).body.run).toMatchObject({
      state: "failed",
      output: null,
      error: { message: "declined" },
      timeline: [{ state: "completed" }, { state: "failed", output: null, error: { name: "NonRetriableError" } }],
    });
  });

  test("large outputs are left out of the run and have addresses of their own", async () => {
    const world = await apiWorld({ store });
    const text = "x".repeat(70_000);
    await world.start({
      big: { on: "a", run: async ({ step }) => ({ text: await step.run("read", () => text) }) },
    });
    const { runId } = await world.send({ name: "a" });
    await world.idle();
    const { run } = (await world.ask(readRun, { params: { run: runId } })).body;
    expect(run.output).toMatchObject({ value: null, isOmitted: true });
    expect(run.timeline[0].output).toEqual({ value: null, bytes: 70_002, isOmitted: true });
    expect((await world.ask(readRunOutput, { params: { run: runId } })).body).toEqual({ text });
    const { stepId: step } = run.timeline[0];
    expect((await world.ask(readStepOutput, { params: { run: runId, step } })).body).toBe(text);
    expect(await world.ask(readStepOutput, { params: { run: runId, step: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "RUN_STEP_UNKNOWN" },
    });
    expect(await world.ask(readRunOutput, { params: { run: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("a run of many outcomes is answered within a bound", async () => {
    const world = await apiWorld({ store });
    await world.start({
      many: {
        on: "a",
        run: async ({ step }) => {
          for (let i = 0; i < 40; i++) await step.run(`s${i}`, () => "x".repeat(60_000));
        },
      },
    });
    const { runId } = await world.send({ name: "a" });
    await world.idle();
    const { run } = (await world.ask(readRun, { params: { run: runId } })).body;
    const shown = run.timeline.filter((entry: any) => !entry.output.isOmitted);
    expect(run.timeline).toHaveLength(40);
    expect(shown).toHaveLength(17);
  });

  test("a cancelled run starts no new attempt, and cancelling again says that it had ended", async () => {
    const world = await apiWorld({ store });
    const gate = held();
    const entered: string[] = [];
    await world.start({
      slow: {
        on: "a",
        run: async ({ step }) => {
          await step.run("one", async () => {
            entered.push("one");
            await gate.promise;
          });
          await step.run("two", () => entered.push("two"));
        },
      },
    });
    const { runId } = await world.send({ name: "a" });
    while (entered.length === 0) await new Promise<void>((resolve) => world.platform.soon(resolve));
    const params = { run: runId };
    const body = { reason: "ordered by mistake" };
    expect((await world.ask(cancelRun, { params, body })).body).toEqual({ cancelled: true, state: "cancelled" });
    gate.release();
    await world.idle();
    expect(entered).toEqual(["one"]);
    expect((await world.ask(cancelRun, { params })).body).toEqual({ cancelled: false, state: "cancelled" });
    expect((await world.ask(readRun, { params })).body.run.error).toMatchObject({ message: "ordered by mistake" });
    expect(await world.ask(cancelRun, { params: { run: "nobody" } })).toMatchObject({ status: 404 });
    expect(await world.ask(cancelRun, { params, body: { reason: " " } })).toMatchObject({ status: 400 });
  });

  test("a run is rerun whole, with other data, or from a step with edited input", async () => {
    const world = await shop(store);
    const { runId } = await world.send({ name: "order/paid", data: { order: 7, price: -1 } });
    await world.idle();
    const rerun = async (body: unknown) => (await world.ask(rerunRun, { params: { run: runId }, body })).body;
    const whole = await rerun(undefined);
    const edited = await rerun({ fromStep: "pay", input: [42] });
    await world.idle();
    const read = async (run: string) => (await world.ask(readRun, { params: { run } })).body.run;
    expect(await read(whole.runId)).toMatchObject({ state: "failed", rerunOf: runId, rerunFrom: null });
    expect(await read(edited.runId)).toMatchObject({
      state: "completed",
      rerunFrom: { name: "pay", keptCount: 1 },
      output: { value: { paid: 42 } },
      timeline: [
        { name: "price", isKept: true, input: null },
        { name: "pay", isKept: false, input: { value: [42], isEdited: true } },
      ],
    });
    const data = { order: 7, price: 12 };
    const preview = async (given: unknown) =>
      (await world.ask(previewRerun, { params: { run: runId }, body: { data: given } })).body;
    expect(await preview(data)).toEqual({ key: "same", runKey: "7", dataKey: "7", holder: edited.runId });
    expect(await preview({ order: "7" })).toMatchObject({ key: "other", dataKey: '"7"' });
    const changed = await rerun({ data });
    await world.idle();
    expect((await world.ask(readRun, { params: { run: changed.runId } })).body).toMatchObject({
      hasOtherData: true,
      run: { rerunOf: runId, output: { value: { paid: 12 } } },
    });
    expect((await world.ask(readRunInput, { params: { run: changed.runId } })).body).toEqual(data);
    expect((await world.ask(readRunInput, { params: { run: runId } })).body).toEqual({ order: 7, price: -1 });
    expect(await rerun({ data: { order: 8 } })).toMatchObject({ code: "RERUN_OTHER_KEY" });
    expect(await rerun({ fromStep: "nobody" })).toMatchObject({ code: "RUN_STEP_UNKNOWN" });
    expect(await rerun({ input: [1] })).toMatchObject({ code: "OPTION_INVALID" });
    expect(await rerun({ fromStep: "pay", input: { amount: 1 } })).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await world.ask(rerunRun, { params: { run: "nobody" } })).toMatchObject({ status: 404 });
  });
});
