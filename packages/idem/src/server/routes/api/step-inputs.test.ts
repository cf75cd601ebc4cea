import { describe, expect, test } from "vitest";
import { inputBytesMax } from "../../../model/step-input.ts";
import { NonRetriableError } from "../../../model/user-errors.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listGroups } from "./list-groups.ts";
import { listRuns } from "./list-runs.ts";
import { readRun } from "./read-run.ts";
import { readRunGroup } from "./read-run-group.ts";
import { readRunHistory } from "./read-run-history.ts";
import { readStepInput } from "./read-step-input.ts";
import { rerunRun } from "./rerun-run.ts";

const minute = 60_000;

describe.each(stores)("what a step was given, over /api on %s", (store) => {
  const read = async (world: Awaited<ReturnType<typeof apiWorld>>, run: string) => {
    const { timeline } = (await world.ask(readRun, { params: { run } })).body.run;
    return {
      timeline,
      inputs: Object.fromEntries(timeline.map((entry: any) => [entry.name, entry.input?.value ?? null])),
      whole: async (name: string) => {
        const { stepId: step } = timeline.find((entry: any) => entry.name === name);
        return (await world.ask(readStepInput, { params: { run, step } })).body;
      },
    };
  };

  test("arguments stand beside the outcome, other tools say what they were asked for, a closure has none", async () => {
    const world = await apiWorld({ store });
    await world.start({
      work: {
        on: "work/asked",
        run: async ({ step }) => {
          await step.run("closure", () => 1);
          await step.run("given", (order: { n: number }, _: unknown) => (order.n = 0), { n: 7 } as any);
          await step.sendEvent("tell", { name: "work/told", data: { n: 7 } });
          await step.sendSignal("wave", { signal: "hello" });
          await step.sleep("rest", "1m");
          await step.invoke("hand on", { function: "shop-child", data: { part: 1 } });
          await step.waitForEvent("approved", { event: "work/approved", timeout: "1h", if: "async.data.ok" });
        },
      },
      child: { on: "child/never", run: async ({ event }) => event.data },
    });
    const { runId } = await world.send({ name: "work/asked" });
    const startedAt = world.engine.now();
    await world.idle();
    await world.advance(minute);
    await world.idle();
    const { timeline, inputs, whole } = await read(world, runId);
    const until = (ms: number) => new Date(startedAt + ms).toISOString();
    expect(inputs).toEqual({
      closure: null,
      // As it was before the callback changed it.
      given: [{ n: 7 }],
      tell: { events: [{ name: "work/told", data: { n: 7 } }] },
      wave: { signal: "hello" },
      rest: { until: until(minute) },
      "hand on": { function: "shop-child", data: { part: 1 } },
      approved: { event: "work/approved", if: "async.data.ok", until: until(61 * minute) },
    });
    expect(await whole("given")).toEqual([{ n: 7 }]);
    expect(await whole("approved")).toEqual(inputs.approved);
    expect(await whole("closure")).toBeNull();
    const invoked = timeline.find(({ name }: any) => name === "hand on");
    expect(invoked.state).toBe("completed");
    const child = (await world.ask(readRun, { params: { run: invoked.childRunId } })).body.run;
    expect(child).toMatchObject({ function: "shop-child", state: "completed", output: { value: { part: 1 } } });
    // Each of the two knows the other.
    const { body: parent } = await world.ask(readRun, { params: { run: runId } });
    expect(parent).toMatchObject({
      parent: null,
      children: [{ runId: child.id, function: "shop-child", state: "completed", step: "hand on" }],
      childCount: 1,
    });
    const { body: invokedRun } = await world.ask(readRun, { params: { run: child.id } });
    expect(invokedRun.parent).toEqual({
      runId,
      function: "shop-work",
      state: "waiting",
      step: "hand on",
      isInvoked: true,
    });
    const history = (await world.ask(readRunHistory, { params: { run: runId } })).body;
    expect(history.run).toMatchObject({ id: runId, function: "shop-work", state: "waiting", result: null });
    expect(history.events).toMatchObject([{ name: "work/asked", data: {} }]);
    expect(history.steps.map(({ name, input, output }: any) => [name, input, output])).toContainEqual([
      "given",
      [{ n: 7 }],
      0,
    ]);
    expect(history.steps.at(-1)).toMatchObject({ name: "approved", state: "waiting", input: inputs.approved });
    expect((await world.ask(readRunHistory, { params: { run: "nobody" } })).status).toBe(404);
    expect((await world.ask(readStepInput, { params: { run: runId, step: "nobody" } })).status).toBe(404);
    expect((await world.ask(readStepInput, { params: { run: "nobody", step: "s" } })).status).toBe(404);
  });

  test("what fails or cannot be kept is said, and fails no run", async () => {
    const world = await apiWorld({ store });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    await world.start({
      work: {
        on: "work/asked",
        options: { retries: 1 },
        run: async ({ step }) => {
          await step.run("large", (text: string, _: unknown) => text.length, "x".repeat(inputBytesMax));
          await step.run("middling", (text: string, _: unknown) => text.length, "x".repeat(20_000));
          await step.run("circle", (given: object, _: unknown) => Object.keys(given), circle);
          await step.run("broken", (n: number, _: unknown) => Promise.reject(new Error(`no ${n}`)), 7);
        },
      },
    });
    const { runId } = await world.send({ name: "work/asked" });
    await world.idle();
    const { timeline, whole } = await read(world, runId);
    expect(timeline.map(({ name, state, input }: any) => [name, state, input])).toEqual([
      ["large", "completed", { ...lost, lost: "It has 65540 bytes of JSON, more than the 65536 that are kept" }],
      ["middling", "completed", { value: null, bytes: 20_004, isOmitted: true, isEdited: false, lost: null }],
      ["circle", "completed", { ...lost, lost: expect.stringMatching(/^It could not be kept as JSON: /) }],
      ["broken", "retrying", { value: [7], bytes: 3, isOmitted: false, isEdited: false, lost: null }],
    ]);
    expect(await whole("large")).toBeNull();
    expect(await whole("middling")).toEqual(["x".repeat(20_000)]);
    await world.advance(60 * minute);
    const ended = await read(world, runId);
    expect(ended.timeline.at(-1)).toMatchObject({ name: "broken", state: "failed", input: { value: [7] } });
  });

  const lost = { value: null, bytes: 0, isOmitted: false, isEdited: false };

  test("a rerun with other arguments says that a person gave them", async () => {
    const world = await apiWorld({ store });
    await world.start({
      pay: {
        on: "pay/asked",
        options: { retries: 0 },
        run: async ({ step }) =>
          step.run(
            "pay",
            (amount: number, _: unknown) => {
              if (amount < 0) throw new NonRetriableError("declined");
              return amount;
            },
            -1,
          ),
      },
    });
    const { runId } = await world.send({ name: "pay/asked" });
    await world.idle();
    const first = await read(world, runId);
    const again = await world.ask(rerunRun, {
      params: { run: runId },
      body: { fromStep: first.timeline[0].stepId, input: [5] },
    });
    await world.idle();
    const second = await read(world, again.body.runId);
    expect(first.timeline[0].input).toMatchObject({ value: [-1], isEdited: false });
    expect(second.timeline[0]).toMatchObject({ input: { value: [5], isEdited: true }, output: { value: 5 } });
  });

  test("a list shows what an open run has made so far, and by which step", async () => {
    const world = await apiWorld({ store });
    await world.start({
      invoice: {
        on: "placement/event",
        options: { idempotency: "event.data.placement" },
        run: async ({ event, step }) => {
          const { id } = await step.run("draft", () => ({ id: `in_${event.data.placement}` }));
          await step.sleep("cool off", "1m");
          await step.waitForEvent("approval", { event: "invoice/approved", timeout: "1d" });
          return { invoice: id };
        },
      },
    });
    const waiting = await world.send({ name: "placement/event", data: { placement: 7 } });
    await world.idle();
    const made = { preview: '{"id":"in_7"}', previewStep: "draft" };
    const rows = async () => ({
      flat: (await world.ask(listRuns)).body.runs[0],
      grouped: (await world.ask(listGroups)).body.groups[0].runs[0],
      ofKey: (await world.ask(readRunGroup, { params: { run: waiting.runId } })).body.group.runs[0],
    });
    for (const row of Object.values(await rows())) expect(row).toMatchObject({ state: "waiting", ...made });
    await world.advance(2 * minute);
    expect((await rows()).flat).toMatchObject(made);
    await world.send({ name: "invoice/approved" });
    await world.idle();
    for (const row of Object.values(await rows())) {
      expect(row).toMatchObject({ state: "completed", preview: '{"invoice":"in_7"}', previewStep: null });
    }
  });
});
