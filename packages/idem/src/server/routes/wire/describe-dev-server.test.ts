import { expect, test } from "vitest";
import { routeWorld, wireApp, wireFunction } from "../world.suite.ts";
import { describeDevServer } from "./describe-dev-server.ts";
import { registerApp } from "./register-app.ts";

test("idem dev says which functions and apps it has", async () => {
  const made = await routeWorld();
  await made.ask(registerApp, { body: wireApp([wireFunction()]) });
  const { body } = await made.ask(describeDevServer);
  expect(body).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    functions: [{ id: "shop-pay", name: "Pay", triggers: [{ event: "order/paid" }] }],
    handlers: [{ appName: "shop", url: "http://localhost:3000/api/inngest", sdk: "js:v4.24.0" }],
  });
});

test("idem start has no such page", async () => {
  const made = await routeWorld({ mode: "start" });
  await expect(made.ask(describeDevServer)).rejects.toMatchObject({ code: "ROUTE_UNKNOWN" });
});
