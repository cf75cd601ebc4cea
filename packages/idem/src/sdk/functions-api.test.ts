import { describe, expect, test } from "vitest";
import { stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import type { FunctionOptions } from "./function-types.ts";
import { inside } from "./inside.ts";

async function shop(store: string, options: Partial<FunctionOptions> = {}) {
  const world = testIdem({ store });
  const { idem } = world;
  const ran: number[] = [];
  idem.createFunction({ id: "charge", ...options }, { event: "order/paid" }, ({ event }) => {
    ran.push((event.data as any).order);
  });
  await idem.start();
  const send = async (...orders: number[]) =>
    idem.send(orders.map((order) => ({ name: "order/paid", data: { order } })));
  return { ...world, ran, send };
}

const kindsOf = (sent: { readonly decisions: readonly { readonly kind: string }[] }) =>
  sent.decisions.map(({ kind }) => kind);

describe.each(stores)("idem.functions on %s", (store) => {
  test("lists functions with their triggers, since when they are paused, and what waits of them", async () => {
    const { idem, send, clock } = await shop(store, { idempotency: { key: "event.data.order", onMissing: "reject" } });
    idem.createFunction({ id: "nightly" }, { cron: "0 3 * * *" }, () => null);
    await idem.send({ name: "order/paid", data: {} });
    const { pausedAt } = await idem.functions.pause("charge");
    await send(1, 2);
    expect(pausedAt).toBe(clock.now());
    const nothing = { held: 0, paused: 0, debounced: 0, batched: 0, isAll: true };
    expect(await idem.functions.list()).toMatchObject([
      {
        id: "charge",
        slug: "test-charge",
        app: "test",
        name: "charge",
        triggers: [{ event: "order/paid" }],
        flow: {},
        pausedAt,
        open: { queued: 0, running: 0, waiting: 0, due: 0 },
        pending: { ...nothing, held: 1, paused: 2 },
      },
      expect.objectContaining({ id: "nightly", triggers: [{ cron: "0 3 * * *" }], pausedAt: null, pending: nothing }),
    ]);
  });

  test("pausing or resuming twice is the same as once", async () => {
    const { idem, send, clock } = await shop(store);
    const first = await idem.functions.pause("charge");
    expect(first).toEqual({ changed: true, pausedAt: clock.now() });
    await clock.advance("1m");
    expect(await idem.functions.pause("test-charge")).toEqual({ changed: false, pausedAt: first.pausedAt });
    expect(kindsOf(await send(1))).toEqual(["paused"]);
    expect(await idem.functions.resume("charge")).toEqual({ changed: true, decided: 0 });
    expect(await idem.functions.resume("charge")).toEqual({ changed: false, decided: 0 });
    expect(kindsOf(await send(2))).toEqual(["started"]);
  });

  test("a function that is resumed leaves its paused events as they were, unless told", async () => {
    const { idem, send, ran } = await shop(store);
    await idem.functions.pause("charge");
    const sent = await send(1);
    await idem.functions.resume("charge", { waiting: "keep" });
    await idem.idle();
    expect(ran).toEqual([]);
    expect(await idem.events.get(sent.ids[0]!)).toMatchObject({ decisions: [{ kind: "paused", runId: null }] });
  });

  test("resumed with release, paused events start in the order they came, before newer ones", async () => {
    const { idem, send, ran } = await shop(store, { concurrency: 1 });
    await idem.functions.pause("charge");
    const orders = Array.from({ length: 120 }, (_, i) => i);
    for (const order of orders) await send(order);
    const resuming = idem.functions.resume("charge", { waiting: "release" });
    await send(1_000);
    expect(await resuming).toMatchObject({ changed: true });
    await send(1_001);
    await idem.idle();
    expect(ran).toEqual([...orders, 1_000, 1_001]);
    const runs = await idem.runs.list({ limit: 500 });
    expect(runs.map(({ id }) => id)).toEqual(
      runs
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
  });

  test("a key is taken by the paused event that came first, not by one that arrives while the function is resumed", async () => {
    const { idem, ran } = await shop(store, { idempotency: "event.data.key" });
    await idem.functions.pause("charge");
    for (const order of [1, 2]) await idem.send({ name: "order/paid", data: { order, key: "k" } });
    const resuming = idem.functions.resume("charge", { waiting: "release" });
    await idem.send({ name: "order/paid", data: { order: 3, key: "k" } });
    await resuming;
    await idem.idle();
    expect(ran).toEqual([1]);
  });

  test("resumed with drop, paused events start nothing, and events that come later do", async () => {
    const { idem, send, ran } = await shop(store);
    await idem.functions.pause("charge");
    const { ids } = await send(1, 2, 3);
    expect(await idem.functions.resume("charge", { waiting: "drop", reason: "old news" })).toEqual({
      changed: true,
      decided: 3,
    });
    for (const id of ids) {
      expect(await idem.events.get(id)).toMatchObject({
        decisions: [{ kind: "dropped", reason: "dropped by hand: old news" }],
      });
    }
    await send(4);
    await idem.idle();
    expect(ran).toEqual([4]);
  });

  test("events held for their missing key are not released by the end of a pause", async () => {
    const { idem, send, ran } = await shop(store, { idempotency: { key: "event.data.order", onMissing: "reject" } });
    const held = await idem.send({ name: "order/paid", data: {} });
    await idem.functions.pause("charge");
    await send(1);
    expect(await idem.functions.resume("charge", { waiting: "release" })).toEqual({ changed: true, decided: 1 });
    await idem.idle();
    expect(ran).toEqual([1]);
    expect(await idem.events.get(held.ids[0]!)).toMatchObject({ decisions: [{ kind: "held" }] });
  });

  test("what waits can be released after the function was resumed, and only once", async () => {
    const { idem, send, ran } = await shop(store);
    await idem.functions.pause("charge");
    await send(1);
    await idem.functions.resume("charge");
    expect(await idem.functions.resume("charge", { waiting: "release" })).toEqual({ changed: false, decided: 1 });
    expect(await idem.functions.resume("charge", { waiting: "release" })).toEqual({ changed: false, decided: 0 });
    await idem.idle();
    expect(ran).toEqual([1]);
  });

  test("another function's events are left alone", async () => {
    const { idem, send, ran } = await shop(store);
    idem.createFunction({ id: "mail" }, { event: "order/paid" }, () => ran.push(-1));
    await idem.functions.pause("charge");
    await idem.functions.pause("mail");
    await send(1, 2);
    await idem.functions.resume("charge", { waiting: "release" });
    await idem.idle();
    expect(ran).toEqual([1, 2]);
    expect((await idem.functions.list()).map(({ pending }) => pending.paused)).toEqual([0, 2]);
  });

  test("a function nobody registered, and a choice there is not, are refused and change nothing", async () => {
    const { idem, send } = await shop(store);
    for (const asked of [idem.functions.pause("nobody"), idem.functions.resume("nobody", { waiting: "release" })]) {
      await expect(asked).rejects.toMatchObject({ code: "FUNCTION_UNKNOWN" });
    }
    await idem.functions.pause("charge");
    const sent = await send(1);
    await expect(idem.functions.resume("charge", { waiting: "relase" as never })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    expect(await idem.events.get(sent.ids[0]!)).toMatchObject({ decisions: [{ kind: "paused" }] });
  });
});

test("thousands of events are released in parts, every one once and in their order", async () => {
  const { idem } = testIdem();
  idem.createFunction({ id: "charge" }, { event: "order/paid" }, () => null);
  await idem.functions.pause("charge");
  const { ids } = await idem.send(Array.from({ length: 2_300 }, () => ({ name: "order/paid" })));
  expect(await idem[inside].resumePart("charge", { waiting: "release", next: null })).toMatchObject({
    changed: false,
    decided: 1_000,
    next: expect.any(Number),
  });
  expect(await idem.functions.resume("charge", { waiting: "release" })).toEqual({ changed: true, decided: 1_300 });
  expect(await idem.functions.list()).toMatchObject([{ open: { queued: 2_300 }, pending: { paused: 0 } }]);
  const events: string[] = [];
  for (let before: string | undefined; events.length < 2_300; ) {
    const page = await idem.runs.list({ limit: 1_000, ...(before === undefined ? {} : { before }) });
    events.push(...page.map(({ eventId }) => eventId));
    before = page.at(-1)!.id;
  }
  expect(events.toReversed()).toEqual(ids);
});
