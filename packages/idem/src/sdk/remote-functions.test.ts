// Functions are paused and their events decided over HTTP as they are in the store itself.
import { expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { startServer } from "../server/start-server.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { Idem } from "./client.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** One store, a client that has it and executes, and one that has only a server's address. */
async function twoClients() {
  const store = new MemoryStore(nodePlatform);
  const define = (idem: Idem) => {
    idem.createFunction({ id: "charge", idempotency: "event.data.order" }, { event: "order/paid" }, () => "charged");
    idem.createFunction({ id: "mail" }, { event: "order/paid", if: "event.data.mail == true" }, () => null);
  };
  const here = new Idem({ id: "shop", store, logger: quiet });
  define(here);
  await here.start();
  const server = await startServer({ port: 0, discovery: false, poll: false }, { store, logger: quiet });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await here.stop();
  });
  const there = new Idem({ id: "shop", server: server.origin });
  define(there);
  const send = async (order: number, mail = false) =>
    (await here.send({ id: `order-${order}`, name: "order/paid", data: { order, mail } })).ids[0]!;
  return { here, there, send };
}

test("functions are listed the same, from the store or from a server", async () => {
  const { here, there, send } = await twoClients();
  await here.functions.pause("charge");
  await send(1);
  expect(await there.functions.list()).toEqual(await here.functions.list());
  const [charge] = await there.functions.list();
  expect(charge).toMatchObject({ id: "charge", slug: "shop-charge", pending: { paused: 1 } });
});

test("a function is paused and resumed over HTTP, by its own id or its full name, with what waits", async () => {
  const { here, there, send } = await twoClients();
  const { changed, pausedAt } = await there.functions.pause("charge", { reason: "wrong price" });
  expect({ changed, pausedAt }).toEqual({ changed: true, pausedAt: (await here.functions.list())[0]!.pausedAt });
  expect(await there.functions.pause("shop-charge")).toEqual({ changed: false, pausedAt });
  const ids = [await send(1), await send(2)];
  expect(await there.functions.resume("charge", { waiting: "release" })).toEqual({ changed: true, decided: 2 });
  for (const id of ids) {
    expect((await here.events.get(id))!.decisions).toMatchObject([{ kind: "started" }, { kind: "filtered" }]);
  }
  await there.functions.pause("charge");
  await send(3);
  expect(await there.functions.resume("charge", { waiting: "drop", reason: "old" })).toEqual({
    changed: true,
    decided: 1,
  });
  expect(await there.functions.resume("charge")).toEqual({ changed: false, decided: 0 });
});

test("events are released and dropped over HTTP, with the decision and the errors the store's own client gives", async () => {
  const { here, there, send } = await twoClients();
  await here.functions.pause("charge");
  const [first, second] = [await send(1), await send(2)];
  const released = await there.events.release("order-1", { reason: "looked into it" });
  expect(released).toMatchObject({ eventId: first, function: "charge", kind: "started", key: "1" });
  expect((await here.events.get(first))!.decisions[0]).toEqual(released);
  expect(await there.events.drop(second, { function: "charge", reason: "no" })).toMatchObject({
    kind: "dropped",
    reason: "dropped by hand: no",
  });
  await here.functions.pause("mail");
  const both = await send(3, true);
  const same = async (act: (idem: Idem) => Promise<unknown>, code: string) => {
    const [a, b] = await Promise.all([here, there].map((idem) => act(idem).catch((error: unknown) => error)));
    expect(b).toMatchObject({ code });
    expect((b as Error).message.replaceAll("shop-", "")).toBe((a as Error).message);
  };
  await same((idem) => idem.events.release(first), "EVENT_NOT_WAITING");
  await same((idem) => idem.events.drop("nobody"), "SUBJECT_UNKNOWN");
  await same((idem) => idem.events.release(first, { function: "nobody" }), "FUNCTION_UNKNOWN");
  await same((idem) => idem.events.release(both), "OPTION_INVALID");
  await same((idem) => idem.functions.pause("nobody"), "FUNCTION_UNKNOWN");
  await same((idem) => idem.functions.resume("nobody", { waiting: "drop" }), "FUNCTION_UNKNOWN");
});
