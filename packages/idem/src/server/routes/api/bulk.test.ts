import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../../platform/manual-platform.ts";
import { MemoryStore } from "../../../store/memory/store.ts";
import { type ApiWorld, apiWorld, stores } from "../../api/api-world.suite.ts";
import { bulkOf } from "../../bulk-work.ts";
import { listBulk, readBulk, startBulk, stopBulk } from "./bulk.ts";
import { listRuns } from "./list-runs.ts";

const sleepers = { remind: { on: "trial/started", run: async ({ step }: any) => step.sleep("week", "7d") } };

/** Runs that sleep, one for each user. */
async function asleep(store: string, count: number): Promise<ApiWorld> {
  const world = await apiWorld({ store });
  await world.start(sleepers);
  for (let user = 0; user < count; user++) await world.send({ name: "trial/started", data: { user } });
  await world.idle();
  await world.advance(1);
  return world;
}

const begin = async (world: ApiWorld, body: object) => {
  const answer = await world.ask(startBulk, { body: { id: "b-1", ...body } });
  await bulkOf(world.world).ended("default", "b-1");
  return answer;
};

const progress = async (world: ApiWorld, bulk = "b-1") => (await world.ask(readBulk, { params: { bulk } })).body.bulk;

const statesOf = async (world: ApiWorld) =>
  (await world.ask(listRuns, { query: { limit: 500 } })).body.runs.map(({ state }: any) => state);

describe.each(stores)("bulk work over /api on %s", (store) => {
  test("cancels every open run a filter finds, over several pages, and counts them", async () => {
    const world = await asleep(store, 230);
    const started = await begin(world, { action: "cancel", filter: { function: "shop-remind" }, reason: "no more" });
    expect(started.body.bulk).toMatchObject({ id: "b-1", action: "cancel", state: "running" });
    expect(await progress(world)).toMatchObject({
      state: "completed",
      matchedCount: 230,
      doneCount: 230,
      skippedCount: 0,
      failedCount: 0,
      filter: { function: "shop-remind" },
    });
    expect(new Set(await statesOf(world))).toEqual(new Set(["cancelled"]));
    const { runs } = (await world.ask(listRuns, { query: { limit: 1 } })).body;
    expect(runs[0].preview).toContain("no more");
  });

  test("the same request again is answered with the work already done, and does nothing twice", async () => {
    const world = await asleep(store, 3);
    const filter = { function: "shop-remind", state: "waiting" };
    await begin(world, { action: "rerun", filter });
    const first = await progress(world);
    expect(first).toMatchObject({ state: "completed", matchedCount: 3, doneCount: 3 });
    expect(await statesOf(world)).toHaveLength(6);
    const again = await begin(world, { action: "rerun", filter });
    expect(again.body.bulk).toEqual(first);
    expect(await statesOf(world)).toHaveLength(6);
  });

  test("the same id for other work is refused", async () => {
    const world = await asleep(store, 1);
    await begin(world, { action: "cancel", filter: { state: "waiting" } });
    for (const other of [
      { action: "rerun", filter: { state: "waiting" } },
      { action: "cancel", filter: { state: "queued" } },
    ]) {
      expect(await begin(world, other)).toMatchObject({ status: 422, body: { code: "BULK_MISMATCH" } });
    }
  });

  test("a rerun is about the runs there were, not about those it makes", async () => {
    const world = await apiWorld({ store });
    await world.start({
      broken: {
        on: "a",
        options: { retries: 0 },
        run: async () => {
          throw new Error("again");
        },
      },
    });
    for (let i = 0; i < 5; i++) await world.send({ name: "a" });
    await world.idle();
    await world.advance(1);
    await begin(world, { action: "rerun", filter: { function: "shop-broken", state: "failed" } });
    await world.idle();
    expect(await progress(world)).toMatchObject({ matchedCount: 5, doneCount: 5 });
    const { runs } = (await world.ask(listRuns)).body;
    expect(runs).toHaveLength(10);
    expect(runs.filter(({ rerunOf }: any) => rerunOf !== null)).toHaveLength(5);
  });

  test("an expression over the event chooses among them", async () => {
    const world = await asleep(store, 6);
    await begin(world, { action: "cancel", filter: { function: "shop-remind", if: "event.data.user >= 4" } });
    expect(await progress(world)).toMatchObject({ matchedCount: 2, doneCount: 2 });
    expect((await statesOf(world)).filter((state: string) => state === "cancelled")).toHaveLength(2);
  });

  test("a dry run counts and does nothing", async () => {
    const world = await asleep(store, 3);
    const { body } = await begin(world, { action: "cancel", filter: { state: "waiting" }, dryRun: true });
    expect(body).toMatchObject({ matchedCount: 3, willCount: 3, leftOut: [], isAll: true });
    expect(new Set(await statesOf(world))).toEqual(new Set(["waiting"]));
    expect(await world.ask(readBulk, { params: { bulk: "b-1" } })).toMatchObject({
      status: 404,
      body: { code: "BULK_UNKNOWN" },
    });
  });

  test("a run whose key a later run stands for is left out, with why, before and during the work", async () => {
    const world = await apiWorld({ store });
    let isMended = false;
    await world.start({
      charge: {
        on: "order/paid",
        options: { retries: 0, idempotency: "event.data.order" },
        run: async () => {
          if (!isMended) throw new Error("503");
        },
      },
    });
    for (let order = 0; order < 4; order++) await world.send({ name: "order/paid", data: { order } });
    await world.idle();
    const failed = (await world.ask(listRuns)).body.runs.map(({ id }: any) => id).reverse();
    await world.engine.rerun(failed[0]);
    await world.idle();
    isMended = true;
    await world.engine.rerun(failed[1]);
    await world.idle();
    await world.advance(1);
    const filter = { function: "shop-charge", state: "failed" };
    const counted = await begin(world, { action: "rerun", filter, dryRun: true });
    expect(counted.body).toMatchObject({ matchedCount: 5, willCount: 3, isAll: true });
    expect(Object.fromEntries(counted.body.leftOut.map(({ why, runIds }: any) => [why, runIds]))).toEqual({
      "done-later": [failed[1]],
      "ended-later": [failed[0]],
    });
    await begin(world, { action: "rerun", filter });
    await world.idle();
    await world.advance(2_000);
    const { leftOut, outcomes, ...done } = await progress(world);
    expect(done).toMatchObject({ matchedCount: 5, doneCount: 3, skippedCount: 2 });
    expect(leftOut).toEqual(counted.body.leftOut);
    expect(outcomes).toMatchObject([{ state: "completed", count: 3 }]);
    // Asked for as something new, it finds nothing to do.
    const again = await begin(world, { id: "b-2", action: "rerun", filter, dryRun: true });
    expect(again.body).toMatchObject({ matchedCount: 5, willCount: 0 });
  });

  test("runs can be named one by one, and a text narrows them as it narrows the list", async () => {
    const world = await asleep(store, 5);
    const ids = (await world.ask(listRuns)).body.runs.map(({ id }: any) => id);
    await begin(world, { action: "cancel", filter: { runs: [ids[0], ids[3], "01JZZ4Q8X5T2M7N0B6E3R9V1KD"] } });
    expect(await progress(world)).toMatchObject({ matchedCount: 2, doneCount: 2 });
    const counted = await begin(world, {
      id: "b-2",
      action: "cancel",
      filter: { runs: ids, q: "trial/" },
      dryRun: true,
    });
    expect(counted.body).toMatchObject({ matchedCount: 5, willCount: 3, leftOut: [{ why: "ended", count: 2 }] });
    const none = await begin(world, { id: "b-3", action: "cancel", filter: { q: "nothing of it" }, dryRun: true });
    expect(none.body).toMatchObject({ matchedCount: 0 });
    const named = await begin(world, { id: "b-4", action: "cancel", filter: { event: "trial/started" }, dryRun: true });
    expect(named.body).toMatchObject({ matchedCount: 3 });
  });

  test("gives back the keys that ended runs hold, and leaves those at work alone", async () => {
    const world = await apiWorld({ store });
    await world.start({
      charge: {
        on: "order/paid",
        options: { idempotency: "event.data.order" },
        run: async ({ event, step }: any) => (event.data.order === 0 ? step.sleep("week", "7d") : 1),
      },
    });
    for (let order = 0; order < 3; order++) await world.send({ name: "order/paid", data: { order } });
    await world.idle();
    await world.advance(1);
    await begin(world, { action: "release-keys", filter: { function: "shop-charge" }, reason: "sent again" });
    expect(await progress(world)).toMatchObject({ doneCount: 2, leftOut: [{ why: "open", count: 1 }] });
    const { rows } = await world.store.reads.auditPage("default", { limit: 10 });
    expect(rows.map(({ action, reason }) => [action, reason])).toEqual([
      ["release-key", "sent again (bulk b-1)"],
      ["release-key", "sent again (bulk b-1)"],
      ["start-bulk", "release-keys: sent again"],
    ]);
    for (let order = 0; order < 3; order++) await world.send({ name: "order/paid", data: { order } });
    await world.idle();
    expect(await statesOf(world)).toHaveLength(5);
  });

  test("goes no faster than the pace it was given", async () => {
    const world = await asleep(store, 12);
    await world.ask(startBulk, {
      body: { id: "b-1", action: "cancel", filter: { state: "waiting" }, pace: 4 },
    });
    const done = async () => (await progress(world)).doneCount;
    await expect.poll(done).toBe(4);
    await world.advance(1_000);
    await expect.poll(done).toBe(8);
    await world.advance(1_000);
    await bulkOf(world.world).ended("default", "b-1");
    expect(await done()).toBe(12);
  });

  test("what was begun can be stopped: what is done stays done", async () => {
    const world = await asleep(store, 300);
    await world.ask(startBulk, { body: { id: "b-1", action: "cancel", filter: { function: "shop-remind" } } });
    const { bulk } = (await world.ask(stopBulk, { params: { bulk: "b-1" } })).body;
    expect(bulk.state).toBe("cancelled");
    expect(bulk.doneCount).toBeLessThan(300);
    expect((await statesOf(world)).filter((state: string) => state === "cancelled")).toHaveLength(bulk.doneCount);
    expect(await progress(world)).toEqual(bulk);
  });

  test("bulk work is listed, newest first", async () => {
    const world = await asleep(store, 1);
    await begin(world, { action: "cancel", filter: { state: "waiting" } });
    await world.advance(1);
    await world.ask(startBulk, { body: { id: "b-2", action: "rerun", filter: { state: "cancelled" } } });
    await bulkOf(world.world).ended("default", "b-2");
    const { body } = await world.ask(listBulk);
    expect(body.bulk.map(({ id, action, state }: any) => [id, action, state])).toEqual([
      ["b-2", "rerun", "completed"],
      ["b-1", "cancel", "completed"],
    ]);
  });

  test("what would be about everything, or about nothing that can be said, is refused", async () => {
    const world = await asleep(store, 1);
    const refused = async (body: object) => (await begin(world, body)).body.code;
    expect(await refused({ action: "cancel", filter: {} })).toBe("REQUEST_INVALID");
    expect(await refused({ action: "cancel" })).toBe("REQUEST_INVALID");
    expect(await refused({ action: "drop", filter: { state: "failed" } })).toBe("REQUEST_INVALID");
    expect(await refused({ action: "cancel", filter: { key: "7" } })).toBe("REQUEST_INVALID");
    expect(await refused({ action: "cancel", filter: { since: "soon" } })).toBe("REQUEST_INVALID");
    expect(await refused({ action: "cancel", filter: { if: "event.data.(" } })).toBe("EXPRESSION_INVALID");
    expect(await refused({ action: "cancel", filter: { state: "failed", colour: "red" } })).toBe("REQUEST_INVALID");
    expect(new Set(await statesOf(world))).toEqual(new Set(["waiting"]));
  });
});

describe("bulk work whose process is gone", () => {
  async function interrupted() {
    const platform = new ManualPlatform();
    const store = new MemoryStore(platform);
    const before = await apiWorld({ platform, store });
    await before.start(sleepers);
    for (let user = 0; user < 50; user++) await before.send({ name: "trial/started", data: { user } });
    await before.idle();
    await before.advance(1);
    const body = { id: "b-1", action: "rerun", filter: { state: "waiting", since: "1h" } };
    await before.ask(startBulk, { body });
    // A turn would be enough for all of it: the store is in memory.
    while ((await bulkOf(before.world).read("default", "b-1")).doneCount === 0) await Promise.resolve();
    await bulkOf(before.world).stop();
    await before.engine.stop(0);
    const after = await apiWorld({ platform, store });
    await after.start(sleepers);
    return { before, after, body, platform };
  }

  test("is taken over when its process falls silent in the middle, however alive that process believes itself", async () => {
    const platform = new ManualPlatform();
    const store = new MemoryStore(platform);
    // It reaches the store no more, and does not know it.
    const cut = Object.create(store, {
      cancel: { value: () => new Promise(() => {}) },
      extend: { value: () => Promise.reject(new Error("cut off")) },
    }) as MemoryStore;
    const before = await apiWorld({ platform, store: cut });
    await before.start(sleepers);
    for (let user = 0; user < 3; user++) await before.send({ name: "trial/started", data: { user } });
    await before.idle();
    await before.advance(1);
    await before.ask(startBulk, { body: { id: "b-1", action: "cancel", filter: { state: "waiting" } } });
    const after = await apiWorld({ platform, store });
    await after.start(sleepers);
    bulkOf(after.world).watch();
    expect(await progress(after)).toMatchObject({ state: "running", action: "cancel" });
    await platform.advance(31_000, () => after.idle());
    await expect.poll(() => progress(after)).toMatchObject({ state: "completed", doneCount: 3 });
    expect(await statesOf(after)).toEqual(["cancelled", "cancelled", "cancelled"]);
    await bulkOf(after.world).stop();
  });

  test("and that is stopped meanwhile is not gone on with", async () => {
    const { after, platform } = await interrupted();
    const runCount = async () => (await after.ask(listRuns, { query: { limit: 500 } })).body.runs.length;
    const before = await runCount();
    bulkOf(after.world).watch();
    void after.ask(stopBulk, { params: { bulk: "b-1" } });
    await expect.poll(() => after.store.reads.claim("default", "bulk-stop", "b-1")).not.toBeNull();
    await platform.advance(31_000, () => after.idle());
    await expect.poll(() => progress(after)).toMatchObject({ state: "cancelled", doneCount: 0 });
    expect(await runCount()).toBe(before);
    await bulkOf(after.world).stop();
  });

  test("is gone on with by a process that watches, from the same runs, with nothing done twice", async () => {
    const { after, platform } = await interrupted();
    bulkOf(after.world).watch();
    await platform.advance(15_000, () => after.idle());
    await expect.poll(() => progress(after)).toMatchObject({ state: "completed", matchedCount: 50, doneCount: 50 });
    const { runs } = (await after.ask(listRuns, { query: { limit: 500 } })).body;
    expect(runs).toHaveLength(100);
    await bulkOf(after.world).stop();
  });

  test("is told as interrupted with how far it is, and finished by the same request without doing anything twice", async () => {
    const { before, after, body } = await interrupted();
    const done = (await progress(before)).doneCount;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(50);
    expect(await progress(after)).toMatchObject({ state: "interrupted", action: "rerun", doneCount: done });
    expect((await after.ask(startBulk, { body })).body.bulk).toMatchObject({ state: "running" });
    await bulkOf(after.world).ended("default", "b-1");
    expect(await progress(after)).toMatchObject({ state: "completed", matchedCount: 50, doneCount: 50 });
    const { runs } = (await after.ask(listRuns, { query: { limit: 500 } })).body;
    expect(runs).toHaveLength(100);
    const reruns = runs.map(({ rerunOf }: any) => rerunOf).filter((id: string | null) => id !== null);
    expect(new Set(reruns).size).toBe(50);
  });
});

test("a store that stays away ends the work, which goes on when it is asked for again", async () => {
  const world = await asleep("memory:", 30);
  const { cancel } = world.store;
  const { errors } = await import("../../../model/errors.ts");
  world.store.cancel = async () => {
    throw errors.STORE_UNAVAILABLE({ why: "it is being moved" });
  };
  const body = { id: "b-1", action: "cancel", filter: { state: "waiting" } };
  await world.ask(startBulk, { body });
  await world.platform.advance(10_000, async () => {
    for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => world.platform.soon(resolve));
  });
  await bulkOf(world.world).ended("default", "b-1");
  expect(await progress(world)).toMatchObject({ state: "failed", error: expect.stringContaining("being moved") });
  world.store.cancel = cancel;
  world.platform.clock.advance(15_000);
  await begin(world, body);
  expect(await progress(world)).toMatchObject({ state: "completed", matchedCount: 30, doneCount: 30 });
});
