// Decisions are counted while nobody looks, and nothing is written when nothing new was decided.
import { expect, onTestFinished, test } from "vitest";
import { apiWorld } from "./api/api-world.suite.ts";
import { keepCounts } from "./keep-counts.ts";

const everything = { since: 0, until: Number.MAX_SAFE_INTEGER };

test("decisions are counted once they are old enough, and then no commit is made until there are new ones", async () => {
  const world = await apiWorld();
  await world.start({ bill: { on: "order/paid", options: { idempotency: "event.data.n" }, run: () => 1 } });
  const { store } = world;
  let commits = 0;
  const count = store.count.bind(store);
  store.count = (input) => {
    commits += 1;
    return count(input);
  };
  world.engine.health.report = (_, error) => expect(error).toBeUndefined();
  const keeper = keepCounts(world.engine, world.platform);
  onTestFinished(() => keeper.stop());
  await world.advance(60_000);
  expect(commits).toBe(0);
  for (const n of [1, 1, 2]) await world.send({ name: "order/paid", data: { n } });
  await world.advance(30_000);
  expect((await store.reads.hourCounts("default", everything)).counts).toMatchObject([{ started: 2, suppressed: 1 }]);
  const before = commits;
  await world.advance(600_000);
  expect(commits - before).toBeLessThanOrEqual(1);
  await world.send({ name: "order/paid", data: { n: 3 } });
  await world.advance(30_000);
  const { counts } = await store.reads.hourCounts("default", everything);
  expect(counts.reduce((sum, { started }) => sum + started, 0)).toBe(3);
});

test("a store that fails is told of, and asked again", async () => {
  const world = await apiWorld();
  await world.start({ bill: { on: "order/paid", run: () => 1 } });
  await world.send({ name: "order/paid", data: {} });
  const { store } = world;
  const count = store.count.bind(store);
  store.count = () => Promise.reject(new Error("no disk"));
  const told: string[] = [];
  world.engine.health.report = (what, error) => void told.push(`${what}: ${error}`);
  const keeper = keepCounts(world.engine, world.platform);
  onTestFinished(() => keeper.stop());
  await world.advance(6_000);
  expect(told).toEqual(["counting by the hour: Error: no disk"]);
  store.count = count;
  await world.advance(60_000);
  expect((await store.reads.hourCounts("default", everything)).counts).toMatchObject([{ started: 1 }]);
});
