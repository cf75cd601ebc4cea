import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listEvents } from "./list-events.ts";
import { search } from "./search.ts";
import { putSearchFields, removeSearchFields } from "./search-fields.ts";

describe.each(stores)("one search over /api on %s", (store) => {
  test("words narrow each other over functions, runs, keys and values; an unheard event is told with the one that was meant", async () => {
    const world = await apiWorld({ store });
    await world.start({
      charge: { on: "order/paid", options: { idempotency: "event.data.orderId" }, run: async () => 1 },
      ship: { on: "order/shipped", run: async () => 1 },
    });
    const { runId } = await world.send({ name: "order/paid", data: { orderId: 99_204, charge: "ch_9920kQ" } });
    await world.send({ name: "order/paid", data: { orderId: 11 } });
    await world.send({ name: "order/payed", data: { orderId: 12 } });
    await world.idle();
    const find = async (q: string) => (await world.ask(search, { query: { q } })).body;
    const both = await find("charge 9920");
    expect(both.runs).toMatchObject([{ id: runId, key: "99204", state: "completed" }]);
    expect(both.values).toMatchObject([{ event: "order/paid", path: "event.data.charge", value: '"ch_9920kQ"' }]);
    expect((await find("99204")).values).toMatchObject([{ path: "event.data.orderId", value: "99204", count: 1 }]);
    expect((await find("charge")).functions).toMatchObject([{ events: ["order/paid"] }]);
    expect((await find(runId.toLowerCase())).runs).toMatchObject([{ id: runId }]);
    const payed = await find("order/payed");
    expect(payed.unheard).toMatchObject({ name: "order/payed", recentCount: 1, meant: "order/paid" });
    expect(payed.events[0]).toMatchObject({ name: "order/paid", recentCount: 2 });
    expect(await find("order/piad")).toMatchObject({ unheard: null, events: [{ name: "order/paid" }] });
    const nothing = { runs: [], functions: [], events: [], event: null, values: [], kept: [], unheard: null };
    expect(await find("zzzzzzzzzzzzzz")).toEqual(nothing);
  });

  test("fields that are chosen are found in every event from then on, however many came since, and go with their events", async () => {
    const world = await apiWorld({ store });
    await world.start({
      charge: {
        on: "order/paid",
        run: async ({ step }) => step.sendEvent("tell", { name: "order/charged", data: { ref: "In-One" } }),
      },
    });
    await world.send({ name: "order/paid", data: { orderId: "before", email: "x@example.com" } });
    const put = (event: string, fields: string[]) =>
      world.ask(putSearchFields, { params: { event }, body: { fields } });
    expect((await put("order/paid", ["data.orderId", "customer.email"])).body.fields).toEqual([
      "event.data.orderId",
      "event.data.customer.email",
    ]);
    await put("order/charged", ["ref"]);
    const first = await world.send({
      name: "order/paid",
      data: { orderId: 99_204, customer: { email: "Ann@Example.com" }, note: "hidden" },
    });
    for (let i = 0; i < 150; i++) await world.send({ name: "order/other", data: { i } });
    await world.idle();
    const find = async (q: string) => (await world.ask(search, { query: { q } })).body;
    const kept = { event: "order/paid", isKept: true, isAll: true, count: 1, eventId: first.eventId };
    expect((await find("99204")).values).toEqual([{ ...kept, path: "event.data.orderId", value: "99204" }]);
    expect((await find("ann@")).values).toMatchObject([{ ...kept, value: '"Ann@Example.com"' }]);
    expect((await find("paid 992")).values).toMatchObject([{ value: "99204" }]);
    expect((await find("shipped 99204")).values).toEqual([]);
    expect((await find("hidden")).values).toEqual([]);
    expect((await find("before")).values).toEqual([]);
    // Sent by steps: in their commit as well.
    expect((await find("in-one")).values).toMatchObject([{ event: "order/charged", isKept: true, count: 1 }]);
    expect((await find("99204")).kept).toEqual([
      { event: "order/charged", fields: ["event.data.ref"] },
      { event: "order/paid", fields: ["event.data.orderId", "event.data.customer.email"] },
    ]);
    const listed = (await world.ask(listEvents, { query: { value: "ANN@example.com" } })).body.events;
    expect(listed.map(({ internalId }: any) => internalId)).toEqual([first.eventId]);
    await world.ask(removeSearchFields, { params: { event: "order/paid" } });
    await world.send({ name: "order/paid", data: { orderId: 5_555 } });
    expect(await world.store.reads.valuesFound("default", { word: "5555", limit: 1 })).toEqual([]);
    await world.advance(3 * 86_400_000);
    for (let after: string | null = ""; after !== null; )
      ({ after } = await world.store.prune({ env: "default", before: world.engine.now(), after, max: 500 }));
    expect(await world.store.reads.valuesFound("default", { word: "99204", limit: 1 })).toEqual([]);
    for (const fields of [["a[0]"], ["x y"], [""], Array.from({ length: 11 }, (_, i) => `f${i}`)])
      expect((await put("order/paid", fields)).status).toBe(400);
  });
});
