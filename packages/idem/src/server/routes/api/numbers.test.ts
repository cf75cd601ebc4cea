// A number is exact, whatever the newest runs look like, and the same wherever it is shown.
import { describe, expect, test } from "vitest";
import type { ApiWorld } from "../../api/api-world.suite.ts";
import { everyStore, useEveryStore } from "../../api/every-store.suite.ts";
import { startBulk } from "./bulk.ts";
import { listFunctions } from "./list-functions.ts";
import { listGroups } from "./list-groups.ts";
import { listRuns } from "./list-runs.ts";
import { readFunction } from "./read-function.ts";
import { readFunctionCharts } from "./read-function-charts.ts";
import { readOverview } from "./read-overview.ts";

const open = useEveryStore();
const failures = 230;
const fn = "shop-charge";

/** More failed than any sample held, and behind them a line of runs that have not begun. */
async function shop(kind: (typeof everyStore)[number]): Promise<ApiWorld> {
  const world = await open(kind);
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", retries: 0, concurrency: { limit: 2 } },
      run: async ({ event, step }) => {
        if (event.data.order < failures) throw new Error("refused");
        await step.sleep("settle", "2s");
      },
    },
  });
  await world.engine.accept(
    Array.from({ length: failures }, (_, order) => ({ name: "order/paid", data: { order } })),
    86_400_000,
    [],
  );
  await world.idle();
  await world.send({ name: "order/paid", data: { order: failures } });
  await world.advance(3_000);
  return world;
}

describe.each(everyStore)("numbers over %s", (kind) => {
  test("a number is exact and the same wherever it is told: in lists, on a function's page, in charts, in the overview, over the runs it leads to", async () => {
    const world = await shop(kind);
    const { functions } = (await world.ask(listFunctions)).body;
    expect(functions[0].day).toMatchObject({ failed: failures, completed: 1, ended: failures + 1 });
    const { function: one } = (await world.ask(readFunction, { params: { function: fn } })).body;
    expect(one.day).toEqual(functions[0].day);
    for (const range of ["1h", "24h", "7d", "30d"]) {
      const { buckets } = (await world.ask(readFunctionCharts, { params: { function: fn }, query: { range } })).body;
      const sum = (name: string) => buckets.reduce((total: number, bucket: any) => total + bucket[name], 0);
      expect([range, sum("failed"), sum("completed")]).toEqual([range, failures, 1]);
    }
    for (const range of ["1h", "24h", "7d"]) {
      const { body } = await world.ask(readOverview, { query: { range } });
      expect([range, body.total.failed, body.functions[0].failed]).toEqual([range, failures, failures]);
      expect(body.buckets.reduce((sum: number, each: any) => sum + each.failed, 0)).toBe(failures);
    }
    const byFunction = (await world.ask(listGroups, { query: { group: "function", since: "7d" } })).body;
    expect(byFunction.functions[0].failed).toBe(failures);
    const failed = { group: "none", state: "failed", endedSince: "7d" };
    expect((await world.ask(listGroups, { query: failed })).body.matching.count).toBe(failures);
    expect((await world.ask(listGroups, { query: { ...failed, q: "charge" } })).body.matching).toBeNull();
    // The runs a number counts are those its list has, and durations are of those that ended.
    const { since, p50Ms } = functions[0].day;
    expect(p50Ms).toBeLessThan(100);
    let [count, before] = [0, ""];
    do {
      const query = { function: fn, state: "failed", endedSince: since, limit: 100, ...(before ? { before } : {}) };
      const { runs, next } = (await world.ask(listRuns, { query })).body;
      count += runs.length;
      before = next;
    } while (before !== null);
    expect(count).toBe(failures);
    // Bulk work on all that match is about those, and about none where none ended.
    const counted = async (filter: object) =>
      (await world.ask(startBulk, { body: { id: "all", action: "rerun", filter, dryRun: true } })).body.matchedCount;
    expect(await counted({ function: fn, state: "failed", endedSince: "7d" })).toBe(failures);
    const later = new Date(world.engine.now() + 1).toISOString();
    expect(await counted({ function: fn, state: "failed", endedSince: later })).toBe(0);
    const none = { function: fn, endedSince: world.engine.now() + 1 };
    expect((await world.ask(listRuns, { query: none })).body).toEqual({
      runs: [],
      next: null,
      isPartial: false,
      lookedBackTo: null,
    });
  });
});

test("runs behind a limit are told with the limit, since when, and about how long it takes; never as if they could run now", async () => {
  const world = await open("memory:");
  const started: (() => void)[] = [];
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", concurrency: { limit: 2 } },
      run: ({ step }) => step.run("render", () => new Promise<void>((resolve) => started.push(resolve))),
    },
  });
  // Code that runs is not waited for.
  const pass = (ms: number) => world.platform.advance(ms, async () => {});
  const at = world.engine.now();
  for (let order = 0; order < 12; order++) await world.send({ name: "order/paid", data: { order } });
  await pass(60_000);
  started[0]!();
  started[1]!();
  await expect.poll(() => started.length).toBe(4);
  await pass(5 * 60_000);
  const { line } = (await world.ask(listFunctions)).body.functions[0];
  expect(line).toMatchObject({
    waiting: 8,
    atWork: 2,
    oldestAt: at,
    behind: { kind: "concurrency", limit: 2, key: null },
    comePerMinute: 0,
  });
  expect(line.endsPerMinute).toBeGreaterThan(0);
  expect(line.emptyInMs).toBeGreaterThan(8 * 60_000);
  for (let i = 2; i < 12; i++) {
    await expect.poll(() => started.length).toBeGreaterThan(i);
    started[i]!();
  }
  await world.idle();
  const { line: over } = (await world.ask(listFunctions)).body.functions[0];
  expect(over).toMatchObject({ waiting: 0, behind: null, emptyInMs: null, comePerMinute: 0 });
  expect(over.endsPerMinute).toBeGreaterThan(0);
});
