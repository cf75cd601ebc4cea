import { expect, test } from "vitest";
import { IdemError } from "../../../model/errors.ts";
import { statusOf } from "../../../protocol/problem.ts";
import { type RouteWorld, routeWorld, wireApp, wireFunction } from "../world.suite.ts";
import { invokeFunction } from "./invoke-function.ts";
import { registerApp } from "./register-app.ts";

async function world(): Promise<RouteWorld> {
  const made = await routeWorld();
  const functions = [
    wireFunction({ triggers: [{ event: "order/paid", expression: "event.data.never == true" }] }),
    wireFunction({ idempotency: "event.data.id" }, "shop-ship"),
    wireFunction({ triggers: [{ event: "inngest/function.invoked" }] }, "shop-curious"),
  ];
  await made.ask(registerApp, { body: wireApp(functions) });
  return made;
}

const runsOf = (made: RouteWorld) => made.engine.store.reads.runs("default", { limit: 100 });

const invoke = (made: RouteWorld, slug: string, body?: unknown, headers: Record<string, string> = {}) =>
  made.ask(invokeFunction, { params: { slug }, body, headers });

test("exactly the named function is started, whatever its triggers, with the data given", async () => {
  const made = await world();
  const { status, body } = await invoke(made, "shop-pay", { name: "order/paid", data: { n: 1 }, user: { id: 7 } });
  expect(status).toBe(200);
  expect(body).toEqual({ id: expect.any(String), status: 200 });
  const stored = await made.engine.store.reads.event("default", body.id);
  expect(stored).toMatchObject({
    name: "inngest/function.invoked",
    data: '{"n":1}',
    extra: '{"user":{"id":7},"invoked":{"fn_id":"shop-pay"}}',
  });
  expect((await runsOf(made)).map(({ fn, eventId }) => [fn, eventId])).toEqual([["shop-pay", body.id]]);
});

test("a body is not needed", async () => {
  const made = await world();
  expect((await invoke(made, "shop-pay")).status).toBe(200);
});

test("asking twice with one id, one seed or one key starts one run", async () => {
  const made = await world();
  const seed = { "x-inngest-event-id-seed": "1794727034207,yRQDRSeHfIdZEQ==" };
  for (let i = 0; i < 2; i++) {
    await invoke(made, "shop-pay", { id: "once" });
    await invoke(made, "shop-pay", { data: {} }, seed);
    await invoke(made, "shop-ship", { data: { id: 7 } });
  }
  expect((await runsOf(made)).map(({ fn }) => fn).sort()).toEqual(["shop-pay", "shop-pay", "shop-ship"]);
});

test("what was decided is answered when asked for", async () => {
  const made = await world();
  const asked = { "x-idem-decisions": "1" };
  const { body } = await invoke(made, "shop-ship", { data: { id: 7 } }, asked);
  expect(body.decisions).toMatchObject([{ kind: "started", function: "shop-ship", key: "7" }]);
});

test("a function nobody registered is not found; data that cannot be an event's is refused", async () => {
  const made = await world();
  const unknown = await invoke(made, "shop-nothing", {}).then(String, (error) => error);
  expect(unknown).toBeInstanceOf(IdemError);
  expect(statusOf(unknown.code)).toBe(404);
  for (const bad of [[], 7, { data: "text" }, { ts: "now" }]) {
    const error = await invoke(made, "shop-pay", bad).then(String, (caught) => caught);
    expect(error).toMatchObject({ code: "EVENT_INVALID" });
    expect(error.message).toContain('The event for function "shop-pay"');
  }
  expect(await runsOf(made)).toEqual([]);
});
