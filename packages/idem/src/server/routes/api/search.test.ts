import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { search } from "./search.ts";

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
    const nothing = { runs: [], functions: [], events: [], event: null, values: [], unheard: null };
    expect(await find("zzzzzzzzzzzzzz")).toEqual(nothing);
  });
});
