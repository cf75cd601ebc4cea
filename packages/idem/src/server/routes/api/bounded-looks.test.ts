// A page costs what it shows, however many runs there are; what is rare is looked for up to a bound, and the page says how far back.
import { expect, test, vi } from "vitest";
import { apiWorld } from "../../api/api-world.suite.ts";
import { startBulk } from "./bulk.ts";
import { listGroups } from "./list-groups.ts";
import { listRuns } from "./list-runs.ts";

async function shop(count: number, isFailing: (n: number) => boolean) {
  const world = await apiWorld({ store: "memory:" });
  await world.start({
    bill: {
      on: "order/paid",
      options: { idempotency: "event.data.n", retries: 0 },
      run: ({ event }) => {
        if (isFailing(event.data.n)) throw new Error("no");
        return "billed";
      },
    },
  });
  for (let n = 0; n < count; n++) {
    await world.send({ name: "order/paid", data: { n } });
    await world.advance(1_000);
  }
  await world.idle();
  const { reads } = world.store;
  const { runPage: whole } = reads;
  const asked = vi.spyOn(reads, "runPage");
  return { world, reads, asked, whole };
}

test("a list that finds little ends after five looks, says how far back it looked, and goes on from there", async () => {
  const { world, asked, whole } = await shop(24, (n) => n === 3);
  // As if a look were at two runs.
  asked.mockImplementation((env, filter) => whole(env, { ...filter, examinedMax: 2 }));
  const keys: string[] = [];
  const backTo: number[] = [];
  let query: Record<string, string> = { show: "failed" };
  for (;;) {
    asked.mockClear();
    const { body } = await world.ask(listGroups, { query });
    expect(asked.mock.calls.length).toBeLessThanOrEqual(5);
    keys.push(...body.groups.map(({ key }: { key: string }) => key));
    expect(body.isPartial).toBe(body.next !== null);
    expect(body.lookedBackTo === null).toBe(body.next === null);
    if (body.next === null) break;
    backTo.push(body.lookedBackTo);
    query = { show: "failed", before: body.next };
  }
  expect(keys).toEqual(["3"]);
  expect(backTo).toHaveLength(2);
  expect(backTo).toEqual([...backTo].sort((a, b) => b - a));
});

test("a list by an end that nobody had in that time looks at no run, and one of an hour long ago begins there", async () => {
  const { world, asked } = await shop(3, (n) => n === 1);
  await world.advance(6 * 3_600_000);
  await world.send({ name: "order/paid", data: { n: 9 } });
  await world.idle();
  asked.mockClear();
  const list = async (query: Record<string, string>) => (await world.ask(listGroups, { query })).body.groups.length;
  expect(await list({ group: "none", state: "cancelled", endedSince: "7d" })).toBe(0);
  expect(asked).not.toHaveBeenCalled();
  expect(await list({ group: "none", state: "failed", endedSince: "7d" })).toBe(1);
  const { until } = asked.mock.calls[0]![1];
  expect(until).toBeLessThan(world.engine.now() - 4 * 3_600_000);
});

test("bulk work by when runs ended begins where the oldest of them was created, as the list does", async () => {
  const { world, asked } = await shop(3, () => false);
  await world.advance(6 * 3_600_000);
  const from = world.engine.now();
  await world.send({ name: "order/paid", data: { n: 9 } });
  await world.idle();
  await world.advance(1_000);
  asked.mockClear();
  const body = { id: "b-1", action: "rerun", filter: { endedSince: "1h" }, dryRun: true };
  const { body: counted } = await world.ask(startBulk, { body });
  expect(counted.matchedCount).toBe(1);
  expect(asked.mock.calls.map(([, { since }]) => since! >= from)).toEqual([true]);
});

test("a run list that finds little says how far back it looked", async () => {
  const { world, asked, whole } = await shop(6, (n) => n === 0);
  asked.mockImplementation((env, filter) => whole(env, { ...filter, examinedMax: 2 }));
  const { body } = await world.ask(listRuns, { query: { state: "failed" } });
  expect(body).toMatchObject({ runs: [], isPartial: true, lookedBackTo: expect.any(Number) });
  asked.mockImplementation(whole);
  expect((await world.ask(listRuns, { query: { state: "failed" } })).body).toMatchObject({ lookedBackTo: null });
});

test("a filter by text or expression reads the groups of the runs it keeps, not of those it passes over", async () => {
  const { world, reads } = await shop(20, () => false);
  const grouped = vi.spyOn(reads, "groupRuns");
  const read = async (query: Record<string, string>) => {
    grouped.mockClear();
    const { body } = await world.ask(listGroups, { query });
    return [body.groups.length, grouped.mock.calls.flatMap(([, ids]) => ids).length];
  };
  expect(await read({ q: "nowhere" })).toEqual([0, 0]);
  expect(await read({ cel: "event.data.n == 7" })).toEqual([1, 1]);
});
