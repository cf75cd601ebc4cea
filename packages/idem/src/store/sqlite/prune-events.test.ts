// The cost of pruning a file, counted: statements for a page, and pages for what comes after.
import { expect, test, vi } from "vitest";
import { dayMs } from "../../model/window.ts";
import { ManualClock } from "../../platform/manual-clock.ts";
import { end, env, newEvent, newStep, openWorld, startPair, type World } from "../contract/world.ts";
import { Connection } from "./connection.ts";
import { openInlineStore } from "./inline-store.ts";
import { loadMigrations } from "./migrations.ts";

const openStore = () => {
  const clock = new ManualClock();
  return { store: openInlineStore({ path: ":memory:", migrations: loadMigrations(), clock, owner: "test" }), clock };
};

/** Ended, each of three steps; every one at `isOpen` is still leased. */
async function runs(world: World, prefix: string, count: number, isOpen: (n: number) => boolean = () => false) {
  const ids = Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, "0")}`);
  await world.store.heartbeat("w1", 1e12);
  await world.ingest(
    ids.map((id) => newEvent(`event of ${id}`)),
    ids.map((id, event) => startPair(id, { event, key: JSON.stringify(id), windowMs: 1, leaseTo: "w1" })),
  );
  for (const [n, id] of ids.entries()) {
    const steps = ["a", "b", "c"].map((step) => newStep(step));
    await world.advance(id, isOpen(n) ? { steps } : { steps, next: end("completed") });
  }
}

test("a page of runs is judged and deleted with a few dozen statements, not with some for each", async () => {
  const world = await openWorld(async () => openStore());
  await runs(world, "r", 200);
  world.clock.advance(dayMs);
  let statements = 0;
  for (const name of ["run", "one", "all", "find"] as const) {
    const call: (...given: any[]) => any = Connection.prototype[name];
    vi.spyOn(Connection.prototype, name).mockImplementation(function (this: Connection, ...given: any[]) {
      statements++;
      return call.apply(this, given);
    });
  }
  const answer = await world.store.prune({ env, before: world.clock.wallMs(), after: "", max: 2_000 });
  vi.restoreAllMocks();
  expect(answer.deleted).toMatchObject({ events: 200, runs: 200, steps: 600, decisions: 200 });
  expect(statements).toBeLessThan(40);
});

test("what lies between those that go is not touched, however they are mixed", async () => {
  const world = await openWorld(async () => openStore());
  const isOpen = (n: number) => n % 3 === 1 || (n > 40 && n < 60);
  await runs(world, "r", 100, isOpen);
  world.clock.advance(dayMs);
  // Young, with an id among the old ones.
  await runs(world, "r0050-", 2);
  for (const max of [7, 50, 2_000]) {
    for (let after: string | null = ""; after !== null; ) {
      after = (await world.store.prune({ env, before: world.clock.wallMs() - 1_000, after, max })).after;
    }
  }
  const left = await world.store.reads.runs(env, { limit: 200 });
  const stays = Array.from({ length: 100 }, (_, n) => n).filter(isOpen).length + 2;
  expect(left).toHaveLength(stays);
  for (const { id } of left) expect((await world.memo(id)).steps).toHaveLength(3);
});

test("the space of what went is used by what comes: a file whose history goes as fast as it comes does not grow", async () => {
  const { store, clock } = openStore();
  const pages = vi.spyOn(Connection.prototype, "all");
  const world = await openWorld(async () => ({ store, clock }));
  await store.reads.events(env, { limit: 1 });
  const connection = pages.mock.contexts.at(-1) as Connection;
  pages.mockRestore();
  const size = () => connection.pragma("page_count") as number;
  const sizes: number[] = [];
  for (const day of [1, 2, 3]) {
    await runs(world, `day${day}-`, 150);
    world.clock.advance(dayMs);
    for (let after: string | null = ""; after !== null; ) {
      after = (await store.prune({ env, before: clock.wallMs(), after, max: 1_000 })).after;
    }
    while ((await store.sweep({ max: 500, repair: false })).reaped > 0);
    sizes.push(size());
  }
  expect(sizes[2]! - sizes[1]!).toBeLessThanOrEqual(2);
});
