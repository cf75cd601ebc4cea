// Events that wait for a person, over /api: listed, released and dropped, one by one or with their function.
import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { dropEvent, releaseEvent } from "./decide-event.ts";
import { listDecisions } from "./list-decisions.ts";
import { listFunctions } from "./list-functions.ts";
import { pauseFunction, resumeFunction } from "./pause-function.ts";

const params = { function: "shop-charge" };

async function shop(store: string) {
  const world = await apiWorld({ store });
  const ran: number[] = [];
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: { key: "event.data.order", onMissing: "reject" } },
      run: async ({ event }) => ran.push(event.data.order),
    },
    mail: { on: "order/paid", run: async () => null },
  });
  const send = async (order: number | undefined, id?: string) => {
    const { eventId } = await world.send({ name: "order/paid", data: { order }, ...(id === undefined ? {} : { id }) });
    await world.idle();
    return eventId;
  };
  return { ...world, ran, send };
}

describe.each(stores)("events that wait, over /api on %s", (store) => {
  test("a paused event is released by its stored id or its sender's, once", async () => {
    const { ask, send, ran, idle } = await shop(store);
    await ask(pauseFunction, { params });
    const eventId = await send(7, "order-paid-7");
    const { body } = await ask(releaseEvent, { params: { event: "order-paid-7" }, body: { reason: "looked into it" } });
    expect(body.decision).toMatchObject({ eventId, function: "shop-charge", kind: "started", key: "7", differs: [] });
    await idle();
    expect(ran).toEqual([7]);
    expect(await ask(releaseEvent, { params: { event: eventId } })).toMatchObject({
      status: 409,
      body: { code: "EVENT_NOT_WAITING", error: expect.stringContaining(`started, run ${body.decision.runId}`) },
    });
  });

  test("a held event is dropped with the reason", async () => {
    const { ask, send } = await shop(store);
    const event = await send(undefined);
    const { body } = await ask(dropEvent, { params: { event }, body: { reason: "no order at all" } });
    expect(body.decision).toMatchObject({ kind: "dropped", reason: "dropped by hand: no order at all", runId: null });
  });

  test("an event that waits for several functions needs the name of one", async () => {
    const { ask, send } = await shop(store);
    for (const fn of ["shop-charge", "shop-mail"]) await ask(pauseFunction, { params: { function: fn } });
    const event = await send(1);
    expect(await ask(releaseEvent, { params: { event } })).toMatchObject({
      status: 400,
      body: { code: "OPTION_INVALID", error: expect.stringContaining('"shop-charge", "shop-mail"') },
    });
    const { body } = await ask(releaseEvent, { params: { event }, body: { function: "shop-mail" } });
    expect(body.decision).toMatchObject({ function: "shop-mail", kind: "started" });
    expect(await ask(dropEvent, { params: { event }, body: { function: "nobody" } })).toMatchObject({ status: 404 });
    for (const body of [{ reason: "" }, { colour: "red" }, { function: 7 }]) {
      expect(await ask(dropEvent, { params: { event }, body })).toMatchObject({ status: 400 });
    }
    expect(await ask(dropEvent, { params: { event: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "SUBJECT_UNKNOWN" },
    });
  });

  test("what waits is counted with its function and listed by itself", async () => {
    const { ask, send } = await shop(store);
    const held = await send(undefined);
    await ask(pauseFunction, { params });
    const paused = await send(1);
    const { functions } = (await ask(listFunctions)).body;
    expect(functions.map(({ pending }: any) => pending)).toEqual([
      { held: 1, paused: 1, debounced: 0, batched: 0, isAll: true },
      { held: 0, paused: 0, debounced: 0, batched: 0, isAll: true },
    ]);
    const { decisions } = (await ask(listDecisions, { query: { pending: "true" } })).body;
    expect(decisions.map(({ eventId, kind }: any) => [eventId, kind])).toEqual([
      [paused, "paused"],
      [held, "held"],
    ]);
    expect(await ask(listDecisions, { query: { pending: "perhaps" } })).toMatchObject({ status: 400 });
  });

  test("a function is resumed with its events released or dropped, and without a word they are kept", async () => {
    const { ask, send, ran, idle } = await shop(store);
    await ask(pauseFunction, { params });
    await send(1);
    expect((await ask(resumeFunction, { params })).body).toMatchObject({
      changed: true,
      decided: 0,
      next: null,
      function: { pausedAt: null, pending: { paused: 1 } },
    });
    expect((await ask(resumeFunction, { params, body: { waiting: "release" } })).body).toMatchObject({
      changed: false,
      decided: 1,
      next: null,
      function: { pending: { paused: 0 } },
    });
    await ask(pauseFunction, { params });
    await send(2);
    const dropped = await ask(resumeFunction, { params, body: { waiting: "drop", reason: "old news" } });
    expect(dropped.body).toMatchObject({ changed: true, decided: 1, next: null });
    await idle();
    expect(ran).toEqual([1]);
    expect(await ask(resumeFunction, { params, body: { waiting: "all" } })).toMatchObject({ status: 400 });
    expect(await ask(resumeFunction, { params: { function: "nobody" }, body: { waiting: "release" } })).toMatchObject({
      status: 404,
    });
  });
});

test("more events than one request decides are decided by the same request, sent again with its `next`", async () => {
  const { ask, engine } = await shop("memory:");
  await ask(pauseFunction, { params });
  const events = Array.from({ length: 1_200 }, (_, order) => ({ name: "order/paid", data: { order } }));
  await engine.accept(events, 86_400_000, []);
  const first = (await ask(resumeFunction, { params, body: { waiting: "release" } })).body;
  expect(first).toMatchObject({ changed: false, decided: 1_000, next: expect.any(Number) });
  expect(first.function).toMatchObject({ pausedAt: expect.any(Number), pending: { paused: 200 } });
  const second = (await ask(resumeFunction, { params, body: { waiting: "release", next: first.next } })).body;
  expect(second).toMatchObject({ changed: true, decided: 200, next: null, function: { pending: { paused: 0 } } });
});
