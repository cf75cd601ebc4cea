// Somebody who may look, and looks for what takes long: the loop goes back to others in between, and a request ends where its share does.
import { expect, test } from "vitest";
import { costPerMs, turnCostMax } from "../../../model/metered-cost.ts";
import { turnMeter } from "../../../model/turn-meter.suite.ts";
import { type ApiWorld, apiWorld } from "../../api/api-world.suite.ts";
import { serverLimits } from "../../limits.ts";
import { startBulk } from "./bulk.ts";
import { listGroups } from "./list-groups.ts";
import { previewRule } from "./preview-rule.ts";

const list = "event.data.list";
// Each of its errors has a stack: 64,000 of them for one run.
const attack = `${list}.exists(a, ${list}.exists(b, ${list}.exists(c, int("x") == 1)))`;
const requestCost = serverLimits.requestCostMs * costPerMs;

async function attacked(options: { readonly keyless?: boolean; readonly data?: object; readonly count?: number } = {}) {
  const { keyless = false, data = { list: Array.from({ length: 40 }, (_, i) => i) }, count = 300 } = options;
  const meter = turnMeter();
  const world = await apiWorld({ turns: meter.turns });
  const billed = keyless ? {} : { options: { idempotency: "event.data.id" } };
  await world.start({ bill: { on: "order/paid", ...billed, run: () => "billed" } });
  const events = Array.from({ length: count }, (_, id) => ({ name: "order/paid", data: { id, ...data } }));
  await world.engine.accept(events, 86_400_000, []);
  await world.idle();
  return { world, meter };
}

/** Every page, one request after another. */
async function allPages(world: ApiWorld, query: Record<string, string | number>) {
  const keys: string[] = [];
  const pages: { readonly isPartial: boolean; readonly next: string | null }[] = [];
  for (let before: string | null = ""; before !== null; ) {
    const { status, body } = await world.ask(listGroups, { query: before === "" ? query : { ...query, before } });
    expect(status).toBe(200);
    for (const group of body.groups) keys.push(group.key);
    pages.push(body);
    before = body.next;
  }
  return { keys, pages };
}

test("a filter whose errors cost the most gives the loop back within 5 ms of cost, each time", async () => {
  const { world, meter } = await attacked({ count: 100 });
  const { status } = await world.ask(listGroups, { query: { cel: attack } });
  expect(status).toBe(200);
  expect(meter.costs().length).toBeGreaterThan(50);
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});

test("a request ends where its share of work does, says so, and every run is found by going on", async () => {
  const { world, meter } = await attacked();
  const cel = `${attack} || event.data.id in [3, 150, 299]`;
  // The costly half fails first, so the cheap half decides where it is put first.
  const { keys, pages } = await allPages(world, { cel: `event.data.id in [3, 150, 299] || ${attack}`, limit: 10 });
  expect(keys).toEqual(["299", "150", "3"]);
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.slice(0, -1).every(({ isPartial, next }) => isPartial && next !== null)).toBe(true);
  expect(pages.at(-1)).toMatchObject({ isPartial: false, next: null });
  const whole = meter.costs().reduce((sum, cost) => sum + cost, 0);
  expect(whole / pages.length).toBeLessThanOrEqual(requestCost + 2 * turnCostMax);
  expect((await world.ask(listGroups, { query: { cel } })).status).toBe(200);
});

test("fifty who look at once hold the loop for no longer than one", async () => {
  const { world, meter } = await attacked({ count: 8 });
  const asked = Array.from({ length: 50 }, () => world.ask(listGroups, { query: { cel: attack } }));
  for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});

test("guessing what keyless runs of large payloads are about gives the loop back, with no filter at all", async () => {
  const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`part${i}Id`, `p-${i}-${"x".repeat(20)}`]));
  const { world, meter } = await attacked({ keyless: true, data: many, count: 120 });
  const { status, body } = await world.ask(listGroups, { query: { limit: 100 } });
  expect(status).toBe(200);
  expect(body.groups.length + (body.pinned?.groups.length ?? 0)).toBeGreaterThan(0);
  expect(meter.costs().length).toBeGreaterThan(20);
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});

test("counting what bulk work would be about ends with its share, and says that there is more", async () => {
  const { world, meter } = await attacked();
  const body = { id: "b1", action: "rerun", filter: { if: attack }, dryRun: true };
  expect(await world.ask(startBulk, { body })).toMatchObject({ status: 200, body: { matchedCount: 0, isAll: false } });
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});

test("counting a rule's alerts over large events is cut where its share ends, and goes on from there", async () => {
  const { world, meter } = await attacked({ data: { text: "x".repeat(60_000) }, count: 250 });
  await world.advance(3_000);
  const query = { what: "events", of: "event.data.id", more: 1 };
  let counted = 0;
  let pages = 0;
  for (let after: string | null = ""; after !== null; pages++) {
    const { status, body } = await world.ask(previewRule, { query: after === "" ? query : { ...query, after } });
    expect(status).toBe(200);
    expect(body.isAll).toBe(body.next === null);
    counted += body.eventCount;
    after = body.next;
  }
  expect(counted).toBe(250);
  expect(pages).toBeGreaterThan(1);
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});

test("events that make a function's expressions cost the most give the loop back between functions", async () => {
  const meter = turnMeter();
  const world = await apiWorld({ turns: meter.turns });
  const options = {
    idempotency: attack,
    concurrency: { limit: 1, key: attack },
    rateLimit: { limit: 1, period: "1m", key: attack },
  };
  const functions = Array.from({ length: 10 }, (_, i) => [`f${i}`, { on: "order/paid", options, run: () => null }]);
  await world.start(Object.fromEntries(functions));
  const data = { list: Array.from({ length: 40 }, (_, i) => i) };
  const sent = await world.engine.accept(
    [1, 2, 3].map((id) => ({ name: "order/paid", data: { id, ...data } })),
    1_000,
    [],
  );
  expect(sent.decisions).toHaveLength(30);
  expect(meter.costs().length).toBeGreaterThanOrEqual(30);
  // The weight of the events comes on top of what their expressions may cost together.
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax + costPerMs);
});
