import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineFunction } from "../../../sdk/create-function.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { registerApp } from "../wire/register-app.ts";
import { routeWorld, wireApp, wireFunction } from "../world.suite.ts";
import { listEventTypes } from "./list-event-types.ts";

const paid = z.object({ order: z.string(), total: z.number() });
const define = (id: string, triggers: { event: string }[], schemas = {}, app = "shop") =>
  defineFunction(app, { id, onFailure: () => null }, triggers, async () => null, { schemas });

describe.each(stores)("event types over /api on %s", (store) => {
  test("every event that functions name or that came lately is listed with its schema and what it starts", async () => {
    const world = await apiWorld({ store });
    await world.engine.register([
      ...define("audit", [{ event: "order/*" }]),
      ...define("charge", [{ event: "order/paid" }], { "order/paid": paid }),
    ]);
    await world.send({ name: "order/shipped" });
    await world.send({ name: "nobody/listens" });
    const { body } = await world.ask(listEventTypes);
    expect(body.eventTypes).toEqual([
      { name: "nobody/listens", schema: null, functions: [] },
      {
        name: "order/paid",
        schema: expect.objectContaining({ type: "object", required: ["order", "total"] }),
        functions: ["shop-audit", "shop-charge"],
      },
      { name: "order/shipped", schema: null, functions: ["shop-audit"] },
    ]);
  });

  test("of one function only the events that start it are listed, as its own app describes them", async () => {
    const world = await apiWorld({ store });
    await world.engine.register([
      ...define("charge", [{ event: "order/paid" }], { "order/paid": paid }),
      ...define("greet", [{ event: "user/joined" }, { event: "order/paid" }]),
    ]);
    await world.send({ name: "order/shipped" });
    const of = async (fn: string) => (await world.ask(listEventTypes, { query: { function: fn } })).body.eventTypes;
    expect(await of("shop-greet")).toEqual([
      { name: "order/paid", schema: null, functions: ["shop-greet"] },
      { name: "user/joined", schema: null, functions: ["shop-greet"] },
    ]);
    expect(await of("shop-charge")).toMatchObject([{ name: "order/paid", schema: { required: ["order", "total"] } }]);
    expect(await world.ask(listEventTypes, { query: { function: "nobody" } })).toMatchObject({ status: 404 });
  });
});

test("schemas that an app told over the wire are answered as they were written, nulls included", async () => {
  const { ask } = await routeWorld();
  const schema = { type: "object", properties: { at: { default: null }, kind: { enum: ["a", null] } } };
  const dataSchemas = { "order/paid": JSON.stringify(schema), "user/gone": "{}", "order/broken": "{" };
  await ask(registerApp, { body: wireApp([wireFunction({ dataSchemas })]) });
  expect((await ask(listEventTypes)).body.eventTypes).toEqual([
    { name: "order/paid", schema, functions: ["shop-pay"] },
  ]);
});
