import { describe, expect, test } from "vitest";
import { IdemError } from "../../../model/errors.ts";
import { type Asked, type RouteWorld, routeWorld, wireApp, wireFunction } from "../world.suite.ts";
import { registerApp } from "./register-app.ts";
import { sendEvents } from "./send-events.ts";

const seed = "1794727034207,yRQDRSeHfIdZEQ==";
const seedHeader = { "x-inngest-event-id-seed": seed };

async function world(...functions: unknown[]): Promise<RouteWorld> {
  const made = await routeWorld();
  await made.ask(registerApp, { body: wireApp(functions) });
  return made;
}

const send = (made: RouteWorld, body: unknown, asked: Asked = {}) =>
  made.ask(sendEvents, { params: { key: "k" }, body, ...asked });

const refusal = async (promise: Promise<unknown>): Promise<IdemError> => {
  const error = await promise.then(JSON.stringify, (caught) => caught);
  expect(error).toBeInstanceOf(IdemError);
  return error;
};

const runsOf = (made: RouteWorld) => made.engine.store.reads.runs("default", { limit: 100 });
const eventsOf = (made: RouteWorld) => made.engine.store.reads.events("default", { limit: 100 });

test("events are stored in order, and their ids answered with status 200 in the body", async () => {
  const made = await world(wireFunction());
  const { status, body } = await send(made, [{ name: "order/paid", data: { n: 1 } }, { name: "other/event" }]);
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual(["ids", "status"]);
  expect(body.status).toBe(200);
  const stored = await Promise.all(body.ids.map((id: string) => made.engine.store.reads.event("default", id)));
  expect(stored.map((event) => event?.name)).toEqual(["order/paid", "other/event"]);
  expect(await runsOf(made)).toHaveLength(1);
});

test("one event need not be in a list", async () => {
  const made = await world(wireFunction());
  expect((await send(made, { name: "order/paid" })).body.ids).toHaveLength(1);
});

describe("a resent request", () => {
  test("with the same seed starts no second run and is told the same ids", async () => {
    const made = await world(wireFunction());
    const events = [
      { name: "order/paid", data: { n: 1 } },
      { name: "order/paid", data: { n: 2 } },
    ];
    const first = await send(made, events, { headers: seedHeader });
    const again = await send(made, events, { headers: seedHeader });
    expect(again).toEqual(first);
    expect(await runsOf(made)).toHaveLength(2);
    expect(await eventsOf(made)).toHaveLength(2);
  });

  test("that overtakes its first sending starts one run", async () => {
    const made = await world(wireFunction());
    const both = await Promise.all([1, 2].map(() => send(made, [{ name: "order/paid" }], { headers: seedHeader })));
    expect(both[0]).toEqual(both[1]);
    expect(await runsOf(made)).toHaveLength(1);
  });

  test("with another seed, or one that cannot be read, is another request", async () => {
    const made = await world(wireFunction());
    const headers = ["1794727034207,AAAAAAAAAAAAAA==", "rubbish", "rubbish", ""].map((value) => ({
      "x-inngest-event-id-seed": value,
    }));
    for (const each of headers) await send(made, [{ name: "order/paid" }], { headers: each });
    expect(await runsOf(made)).toHaveLength(4);
  });
});

test("the sender's own id makes a second event a duplicate, whatever its seed; its stored id is another", async () => {
  const made = await world(wireFunction());
  const first = await send(made, [{ id: "order-7", name: "order/paid" }], { headers: seedHeader });
  const second = await send(made, [{ id: "order-7", name: "order/paid" }]);
  expect(second.body.ids).not.toEqual(first.body.ids);
  expect(second.body.ids[0]).not.toBe("order-7");
  expect(await runsOf(made)).toHaveLength(1);
});

describe("all or nothing", () => {
  test.each([
    ["a reserved name", { name: "inngest/function.failed" }, "reserved"],
    ["no name", { data: {} }, "name"],
    ["seconds for milliseconds", { name: "a/b", ts: 1_767_225_600 }, "ts"],
    ["data that is a list", { name: "a/b", data: [] }, "data"],
    ["six sessions", { name: "a/b", meta: { sessions: { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 } } }, "sessions"],
    ["a number", 7, "not 7"],
  ])("%s: the error says which event and why, and none is stored", async (_, bad, why) => {
    const made = await world(wireFunction());
    const error = await refusal(send(made, [{ name: "order/paid" }, bad, { name: "order/paid" }]));
    expect(error.code).toBe("EVENT_INVALID");
    expect(error.message).toContain("Event 2 of 3");
    expect(error.message).toContain(why);
    expect(await eventsOf(made)).toEqual([]);
  });

  test("more than 5,000 are refused whole", async () => {
    const made = await world();
    const events = Array.from({ length: 5_001 }, () => ({ name: "a/b" }));
    expect((await refusal(send(made, events))).code).toBe("EVENT_BATCH_TOO_LARGE");
    expect(await eventsOf(made)).toEqual([]);
  });

  test("5,000 are taken, each with its own id", async () => {
    const made = await world();
    const events = Array.from({ length: 5_000 }, () => ({ name: "a/b" }));
    const { body } = await send(made, events, { headers: seedHeader });
    expect(new Set(body.ids).size).toBe(5_000);
  });
});

test("what only servers may say is taken out before a function can see it", async () => {
  const made = await world(wireFunction());
  const { body } = await send(made, { name: "order/paid", ts: 0, data: { n: 1, _inngest: { fn_id: "x" } } });
  const stored = (await made.engine.store.reads.event("default", body.ids[0]))!;
  expect(stored.data).toBe('{"n":1}');
  expect(stored.ts).toBe(made.platform.wallMs());
});

test("a form named in the URL is one event", async () => {
  const made = await world(wireFunction());
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { body } = await send(made, "email=a%40b.c&tag=x&tag=y", { headers, query: "name=order/paid" });
  const stored = (await made.engine.store.reads.event("default", body.ids[0]))!;
  expect(JSON.parse(stored.data)).toEqual({ email: ["a@b.c"], tag: ["x", "y"] });
});

describe("for Idem's own client", () => {
  test.each([
    ["by header", { headers: { "x-idem-decisions": "1" } }],
    ["in the URL", { query: "decisions=1" }],
  ])("the decisions are answered when asked for %s", async (_, asked) => {
    const made = await world(wireFunction({ idempotency: "event.data.id" }));
    await send(made, { name: "order/paid", data: { id: 7, at: 1 } });
    const { body } = await send(made, { name: "order/paid", data: { id: 7, at: 2 } }, asked);
    expect(body.status).toBe(200);
    expect(body.decisions).toMatchObject([{ kind: "duplicate-key", function: "shop-pay", differs: ["data.at"] }]);
    const unmatched = await send(made, { name: "nobody/listens" }, asked);
    expect(unmatched.body).toMatchObject({ decisions: [], unmatched: true });
  });

  test("the window of the events' ids can be given", async () => {
    const made = await world(wireFunction());
    const asked = { headers: { "x-idem-window": "1m", "x-idem-decisions": "1" } };
    const kindOf = async () => (await send(made, { id: "a", name: "order/paid" }, asked)).body.decisions[0].kind;
    expect(await kindOf()).toBe("started");
    made.platform.clock.advance(59_000);
    expect(await kindOf()).toBe("duplicate-event");
    made.platform.clock.advance(1_001);
    expect(await kindOf()).toBe("started");
    for (const window of ["soon", "0s"]) {
      const error = await refusal(send(made, { name: "a/b" }, { headers: { "x-idem-window": window } }));
      expect(error.message).toContain("x-idem-window");
    }
  });
});
