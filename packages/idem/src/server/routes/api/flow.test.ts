// Flow control as /api shows it: configurations, batches, what waits and what stands in line.
import { describe, expect, test } from "vitest";
import { held } from "../../../testing/one-run.suite.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { explainSubject } from "./explain-subject.ts";
import { listFunctions } from "./list-functions.ts";
import { readFunction } from "./read-function.ts";
import { readLine } from "./read-line.ts";
import { readRun } from "./read-run.ts";

describe.each(stores)("flow control over /api on %s", (store) => {
  test("functions show their limits as configured, and nothing where there are none", async () => {
    const world = await apiWorld({ store });
    await world.start({
      all: {
        on: "a",
        options: {
          concurrency: [{ limit: 2, key: "event.data.k" }],
          throttle: { limit: 5, period: "1m", burst: 2 },
          rateLimit: { limit: 9, period: "1h" },
          debounce: { period: "10s", timeout: "1m" },
          singleton: { mode: "skip" },
          priority: { run: "event.data.p" },
          cancelOn: [{ event: "stop", if: "async.data.k == event.data.k" }],
        },
        run: async () => null,
      },
      batch: { on: "b", options: { batchEvents: { maxSize: 3, timeout: "1m" } }, run: async () => null },
      plain: { on: "c", run: async () => null },
    });
    const { functions } = (await world.ask(listFunctions)).body;
    expect(functions.map(({ flow }: any) => flow)).toEqual([
      {
        concurrency: [{ limit: 2, key: "event.data.k", scope: "fn" }],
        throttle: { limit: 5, periodMs: 60_000, burst: 2, key: null },
        rateLimit: { limit: 9, periodMs: 3_600_000, key: null },
        debounce: { periodMs: 10_000, timeoutMs: 60_000, key: null },
        singleton: { mode: "skip", key: null },
        priority: "event.data.p",
        cancelOn: [{ event: "stop", if: "async.data.k == event.data.k", timeoutMs: null }],
      },
      { batch: { maxSize: 3, timeoutMs: 60_000, key: null, if: null } },
      {},
    ]);
  });

  test("a batch's run is read with all its events, and each of its events is told to be in it", async () => {
    const world = await apiWorld({ store });
    await world.start({
      many: { on: "a", options: { batchEvents: { maxSize: 2, timeout: "1m" } }, run: async () => null },
    });
    const first = await world.send({ name: "a", data: { n: 1 } });
    const rowsOf = async (q: string) => (await world.ask(explainSubject, { query: { q, rows: "true" } })).body.rows;
    expect((await rowsOf(first.eventId)).pending).toMatchObject([
      { function: "shop-many", buffer: { count: 1, max: 2 } },
    ]);
    const { runId } = await world.send({ name: "a", data: { n: 2 } });
    await world.idle();
    const { body } = await world.ask(readRun, { params: { run: runId } });
    expect(body.event.internalId).toBe(first.eventId);
    expect(body.events.map(({ data }: any) => data.value)).toEqual([{ n: 1 }, { n: 2 }]);
    expect((await rowsOf(runId)).events).toHaveLength(2);
    expect(await rowsOf(first.eventId)).toMatchObject({
      pending: [],
      decisions: [{ kind: "started", runId, reason: "in a batch of 2" }],
    });
  });

  test("a run in line is read with the limit it waits for", async () => {
    const world = await apiWorld({ store });
    const hold = held();
    await world.start({
      one: { on: "a", options: { concurrency: 1 }, run: ({ step }) => step.run("work", () => hold.promise) },
    });
    await world.send({ name: "a" });
    const { runId } = await world.send({ name: "a" });
    const line = [{ kind: "concurrency", limit: 1, periodMs: null, key: null, scope: "fn", used: 1, waiting: 1 }];
    expect((await world.ask(readRun, { params: { run: runId } })).body.run).toMatchObject({ state: "queued", line });
    const explained = await world.ask(explainSubject, { query: { q: runId, as: "run", rows: "true" } });
    expect(explained.body.rows).toMatchObject({ kind: "run", line });
    hold.release();
    await world.idle();
    expect((await world.ask(readRun, { params: { run: runId } })).body.run).toMatchObject({
      state: "completed",
      line: [],
    });
  });

  test("of a limit that counts steps each step at work is one in use, wherever it is shown", async () => {
    const world = await apiWorld({ store });
    const hold = held();
    await world.start({
      wide: {
        on: "a",
        options: { concurrency: { limit: 3, parallelSteps: true } },
        run: ({ step }) => Promise.all(["x", "y", "z"].map((id) => step.run(id, () => hold.promise))),
      },
    });
    await world.send({ name: "a" });
    await expect.poll(async () => (await limitsOf()).map(({ used }: any) => used)).toEqual([3]);
    const { runId } = await world.send({ name: "a" });
    const figures = (await world.ask(readFunction, { params: { function: "shop-wide" } })).body;
    expect(figures.function.limits).toMatchObject([{ limit: 3, used: 3 }]);
    expect(figures.function).toMatchObject({ open: { running: 1, queued: 1 }, line: { behind: { limit: 3 } } });
    expect(figures.function.flow.concurrency).toEqual([{ limit: 3, key: null, scope: "fn", parallelSteps: true }]);
    const { summary } = (await world.ask(explainSubject, { query: { q: runId, as: "run" } })).body;
    expect(JSON.stringify(summary)).toContain("3 of 3 are in use");
    hold.release();
    await world.idle();
    expect((await limitsOf())[0].used).toBe(0);

    async function limitsOf() {
      return (await world.ask(readLine, { params: { function: "shop-wide" } })).body.limits;
    }
  });
});
