import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { storeContract } from "../contract/all.ts";
import { env, eventWait, timeWait, World } from "../contract/world.ts";
import { MemoryStore } from "./store.ts";
import type { Database } from "./tables.ts";

async function openMemory() {
  const clock = new ManualClock();
  return { store: new MemoryStore(clock), clock };
}

storeContract("memory", openMemory);

test("an open run whose job was lost is given one: due at once, or at the earliest timeout of its waits", async () => {
  const { store, clock } = await openMemory();
  const world = new World(store, clock);
  const timeoutAt = clock.wallMs() + 10;
  await world.start("r1");
  await world.startWaiting("r2", [timeWait("s", timeoutAt), eventWait("t")]);
  const { database } = store as unknown as { database: Database };
  for (const id of ["r1", "r2"]) database.env(env).jobs.delete(id);

  expect(await store.sweep({ max: 10, repair: false })).toMatchObject({ repaired: 0 });
  expect(await store.sweep({ max: 10, repair: true })).toMatchObject({ repaired: 2, queued: true });
  expect(await world.run("r2")).toMatchObject({ state: "waiting", dueAt: timeoutAt });
  const { jobs, nextDueAt } = await world.lease("w1", { max: 10 });
  expect(jobs.map(({ jobId }) => jobId)).toEqual(["r1"]);
  expect(nextDueAt).toBe(timeoutAt);
});

test("rows given out cannot be changed by whoever receives them", async () => {
  const { store, clock } = await openMemory();
  const world = new World(store, clock);
  await world.startLeased("r1", { key: "1" });
  const claim = await world.claimOf("1");
  expect(() => Object.assign(claim, { asked: 100 })).toThrow(TypeError);
  expect(await world.claimOf("1")).toMatchObject({ asked: 1 });
});
