// A function over time, and starting it by hand.
import { expect, test } from "vitest";
import { sketchError } from "../../../model/duration-sketch.ts";
import { apiWorld } from "../../api/api-world.suite.ts";
import { invokeFunction } from "./invoke-function.ts";
import { readFunctionCharts } from "./read-function-charts.ts";

const shop = async () => {
  const made = await apiWorld();
  await made.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", retries: 0 },
      run: async ({ event, step }) => {
        if (event.data.order === "bad") throw new Error("refused");
        await step.sleep("settle", "2s");
      },
    },
  });
  const charts = async (range: string) =>
    (await made.ask(readFunctionCharts, { params: { function: "shop-charge" }, query: { range } })).body;
  return { ...made, charts };
};

test("outcomes and run times stand in the stretch in which runs ended, and stretches without any have no time", async () => {
  const { send, advance, charts } = await shop();
  await send({ name: "order/paid", data: { order: "a" } });
  await send({ name: "order/paid", data: { order: "bad" } });
  await advance(3_000);
  const { buckets, bucketMs, since, until } = await charts("1h");
  expect(bucketMs).toBe(60_000);
  expect(since + buckets.length * bucketMs).toBeGreaterThanOrEqual(until);
  const last = buckets.at(-1);
  expect(last).toMatchObject({ completed: 1, failed: 1, begun: 0, due: 0 });
  expect(last.p95Ms).toBeGreaterThanOrEqual(2_000 * (1 - sketchError));
  expect(buckets[0]).toMatchObject({ completed: 0, failed: 0, p50Ms: null, p95Ms: null });
});

test("a run that is not over counts as begun, and a function nobody has is refused", async () => {
  const { send, idle, charts, ask } = await shop();
  await send({ name: "order/paid", data: { order: "a" } });
  await idle();
  expect((await charts("24h")).buckets.at(-1)).toMatchObject({ completed: 0, begun: 1 });
  expect((await ask(readFunctionCharts, { params: { function: "shop-none" } })).body.code).toBe("FUNCTION_UNKNOWN");
});

test("who invokes a function by hand twice with one key starts one run, and is told so", async () => {
  const { ask, idle } = await shop();
  const invoke = () => ask(invokeFunction, { params: { function: "shop-charge" }, body: { data: { order: "a" } } });
  const first = await invoke();
  await idle();
  const second = await invoke();
  expect(first.body.decisions).toMatchObject([{ kind: "started" }]);
  expect(second.body.decisions).toMatchObject([{ kind: "duplicate-key", runId: first.body.decisions[0].runId }]);
});
