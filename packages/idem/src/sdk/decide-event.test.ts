// An event that waits for a person: released, it starts what it would have started; dropped, it is gone for good.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { openReadOnlyStore } from "../store/sqlite/read-only-store.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { oneStore } from "../testing/one-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { Idem } from "./client.ts";
import type { FunctionOptions } from "./function-types.ts";

/** A function that is paused from the beginning. */
async function paused(store: string, options: Partial<FunctionOptions> & { readonly if?: string } = {}) {
  const { if: filter, ...over } = options;
  const world = testIdem({ store });
  const { idem } = world;
  const ran: unknown[] = [];
  const trigger = { event: "order/paid", ...(filter === undefined ? {} : { if: filter }) };
  idem.createFunction({ id: "charge", ...over }, trigger, ({ event, events }) => {
    ran.push(events.map(({ data }: any) => data.order));
    return (event.data as any).order;
  });
  await idem.start();
  await idem.functions.pause("charge");
  const send = async (order: number, more: object = {}) => {
    const { ids } = await idem.send({ name: "order/paid", data: { order }, ...more });
    return ids[0]!;
  };
  return { ...world, ran, send };
}

describe.each(stores)("an event that waits, on %s", (store) => {
  test("a released event starts what it would have started, also while its function is still paused", async () => {
    const { idem, send, ran } = await paused(store, { idempotency: "event.data.order" });
    const id = await send(7);
    const decision = await idem.events.release(id, { reason: "looked into it" });
    expect(decision).toMatchObject({ eventId: id, function: "charge", kind: "started", key: "7", reason: null });
    expect(await idem.runs.wait(decision.runId!)).toMatchObject({ state: "completed", output: 7 });
    expect(await idem.events.get(id)).toMatchObject({ decisions: [decision] });
    const other = await send(8);
    expect(await idem.events.get(other)).toMatchObject({ decisions: [{ kind: "paused", runId: null }] });
    expect(ran).toEqual([[7]]);
  });

  test("a key that was taken meanwhile makes a released event a duplicate, answered with the first run", async () => {
    const { idem, send, ran } = await paused(store, { idempotency: "event.data.order" });
    const waiting = await send(7, { data: { order: 7, note: "first" } });
    await idem.functions.resume("charge");
    const { runId } = (await idem.send({ name: "order/paid", data: { order: 7, note: "second" } })).decisions[0]!;
    expect(await idem.events.release(waiting)).toMatchObject({
      kind: "duplicate-key",
      runId,
      differs: ["data.note"],
    });
    await idem.idle();
    expect(ran).toEqual([[7]]);
  });

  test("a released event that its function's filter refuses is filtered", async () => {
    const { idem, send, ran } = await paused(store, { if: "event.data.order > 5" });
    const [low, high] = [await send(1), await send(9)];
    expect(await idem.events.release(low)).toMatchObject({ kind: "filtered", runId: null });
    expect(await idem.events.release(high)).toMatchObject({ kind: "started" });
    await idem.idle();
    expect(ran).toEqual([[9]]);
  });

  test("an event dropped by hand starts nothing, and its decision says why", async () => {
    const { idem, send, ran } = await paused(store);
    const [told, untold] = [await send(1), await send(2)];
    expect(await idem.events.drop(told, { reason: "a test order" })).toMatchObject({
      kind: "dropped",
      reason: "dropped by hand: a test order",
      runId: null,
    });
    expect(await idem.events.drop(untold)).toMatchObject({ kind: "dropped", reason: "dropped by hand" });
    await idem.functions.resume("charge", { waiting: "release" });
    await idem.idle();
    expect(ran).toEqual([]);
  });

  test("who releases or drops second is told what became of the event, and changes nothing", async () => {
    const { idem, send, ran } = await paused(store);
    const [released, dropped] = [await send(1), await send(2)];
    const { runId } = await idem.events.release(released);
    await idem.events.drop(dropped);
    for (const id of [released, dropped]) {
      for (const again of [idem.events.release(id), idem.events.drop(id)]) {
        await expect(again).rejects.toMatchObject({ code: "EVENT_NOT_WAITING" });
      }
    }
    await expect(idem.events.release(released)).rejects.toThrow(
      `function "charge" decided it as started, run ${runId}`,
    );
    await expect(idem.events.release(dropped, { function: "charge" })).rejects.toThrow("decided it as dropped");
    await idem.idle();
    expect(ran).toEqual([[1]]);
  });

  test("of two who release at the same time one starts the run and the other is told of it", async () => {
    const { idem, send, ran } = await paused(store);
    const id = await send(1);
    const both = await Promise.allSettled([idem.events.release(id), idem.events.release(id)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await idem.idle();
    expect(ran).toEqual([[1]]);
  });

  test("an event held for its missing key, once released, starts without one and says so", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction(
      { id: "charge", idempotency: { key: "event.data.order", onMissing: "reject" } },
      { event: "order/paid" },
      () => "charged",
    );
    await idem.start();
    const sent = await idem.send({ name: "order/paid", data: {} });
    expect(sent.decisions).toMatchObject([{ kind: "held" }]);
    const decision = await idem.events.release(sent.ids[0]!);
    expect(decision).toMatchObject({ kind: "started", key: null });
    expect(decision.reason).toContain("started without a key");
    expect(await idem.runs.wait(decision.runId!)).toMatchObject({ state: "completed" });
  });

  test("paused events of a function that collects batches are released as runs of their own", async () => {
    const { idem, send, ran, clock } = await paused(store, { batchEvents: { maxSize: 10, timeout: "10s" } });
    for (const order of [1, 2]) await send(order);
    await idem.functions.resume("charge", { waiting: "release" });
    await idem.idle();
    expect(ran).toEqual([[1], [2]]);
    for (const order of [3, 4]) await send(order);
    await clock.advance("10s");
    expect(ran).toEqual([[1], [2], [3, 4]]);
  });

  test("an event is named by its sender's id too, and what is not there is unknown", async () => {
    const { idem, send } = await paused(store);
    const id = await send(1, { id: "order-paid-1" });
    expect(await idem.events.release("order-paid-1")).toMatchObject({ eventId: id, kind: "started" });
    await expect(idem.events.release("order-paid-2")).rejects.toMatchObject({ code: "SUBJECT_UNKNOWN" });
    await expect(idem.events.drop("order-paid-2")).rejects.toMatchObject({ code: "SUBJECT_UNKNOWN" });
  });

  test("an event that waits for several functions is released for the one that is named", async () => {
    const { idem, ran } = await paused(store);
    idem.createFunction({ id: "mail" }, { event: "order/paid" }, () => ran.push("mail"));
    idem.createFunction({ id: "stock" }, { event: "order/paid" }, () => ran.push("stock"));
    await idem.functions.pause("mail");
    const [id] = (await idem.send({ name: "order/paid", data: { order: 1 } })).ids;
    await expect(idem.events.release(id!)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      facts: { option: "function", why: expect.stringContaining('"charge", "mail"') },
    });
    await expect(idem.events.release(id!, { function: "stock" })).rejects.toMatchObject({ code: "EVENT_NOT_WAITING" });
    await expect(idem.events.release(id!, { function: "nobody" })).rejects.toMatchObject({ code: "FUNCTION_UNKNOWN" });
    expect(await idem.events.drop(id!, { function: "charge" })).toMatchObject({ function: "charge", kind: "dropped" });
    // Only one is left.
    expect(await idem.events.release(id!)).toMatchObject({ function: "mail", kind: "started" });
    await idem.idle();
    expect(ran.toSorted()).toEqual(["mail", "stock"]);
  });

  test("an event in a buffer decides itself, and is neither released nor dropped", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "sync", debounce: { period: "10s" } }, { event: "order/paid" }, () => null);
    await idem.start();
    const [id] = (await idem.send({ name: "order/paid" })).ids;
    await expect(idem.events.drop(id!)).rejects.toThrow(
      'function "sync" keeps it as debounced and decides it by itself',
    );
    await clock.advance("10s");
    expect(await idem.events.get(id!)).toMatchObject({ decisions: [{ kind: "started" }] });
  });

  test("events of a function that is registered no more can be dropped, and are not released", async () => {
    const { process } = oneStore(store);
    const { idem } = process();
    idem.createFunction({ id: "charge" }, { event: "order/paid" }, () => null);
    await idem.functions.pause("charge");
    const [id] = (await idem.send({ name: "order/paid" })).ids;
    await idem.stop();
    const { idem: next } = process();
    next.createFunction({ id: "other" }, { event: "other/thing" }, () => null);
    await expect(next.events.release(id!)).rejects.toMatchObject({ code: "FUNCTION_UNKNOWN" });
    expect(await next.events.drop(id!)).toMatchObject({ function: "test-charge", kind: "dropped" });
  });
});

describe.each(stores)("a step that invokes a paused function, on %s", (store) => {
  async function waiting() {
    const run = await oneRun(
      async ({ step }, { idem }) => {
        await step.run("pause", () => idem.functions.pause("child"));
        return step.invoke("ask", { function: "child", data: { n: 1 } });
      },
      {
        store,
        also: (idem) => {
          idem.createFunction({ id: "child", triggers: [] }, async ({ event }) => event.data.n);
        },
      },
    );
    await run.idem.idle();
    expect(await run.idem.runs.get(run.runId)).toMatchObject({ state: "waiting" });
    const [asked] = (await run.idem.events.list()).filter(({ name }) => name === "inngest/function.invoked");
    return { run, id: asked!.internalId };
  }

  test("gets the answer once its event is released", async () => {
    const { run, id } = await waiting();
    expect(await run.idem.events.release(id)).toMatchObject({ kind: "started" });
    await run.idem.idle();
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: 1 });
  });

  test("gets the answer once its function is resumed with what waits", async () => {
    const { run } = await waiting();
    expect(await run.idem.functions.resume("child", { waiting: "release" })).toEqual({ changed: true, decided: 1 });
    await run.idem.idle();
    expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed", output: 1 });
  });

  test("gets an error with the reason once its event is dropped", async () => {
    const { run, id } = await waiting();
    await run.idem.events.drop(id, { reason: "not today" });
    await run.idem.idle();
    const { state, error } = await run.idem.runs.wait(run.runId);
    expect(state).toBe("failed");
    expect(error!.message).toContain("not today");
  });
});

test.each(stores)("what a person did is in the audit, with the reason, on %s", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "idem-audit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const platform = new ManualPlatform();
  const file = { path: join(folder, "shop.db"), migrations: loadMigrations(), clock: platform };
  const store = kind === "memory:" ? new MemoryStore(platform) : openInlineStore({ ...file, owner: "a test" });
  const idem = new Idem({ id: "shop", store, platform, logger: { debug() {}, info() {}, warn() {}, error() {} } });
  idem.createFunction({ id: "charge" }, { event: "order/paid" }, () => null);
  await idem.functions.pause("charge", { reason: "wrong price" });
  const [first, second] = (await idem.send([{ name: "order/paid" }, { name: "order/paid" }])).ids;
  await idem.events.drop(first!, { reason: "a test order" });
  await idem.functions.resume("charge", { reason: "right price", waiting: "release" });
  const rows = () => {
    if (kind === "memory:") return (store as any).database.env("default").audit.all();
    const { connection, store: reading } = openReadOnlyStore(file);
    const found = connection.all("select action, subject, reason from audit order by id");
    void reading.close();
    return found;
  };
  expect(rows().map(({ action, subject, reason }: any) => [action, subject, reason])).toEqual([
    ["pause-function", "shop-charge", "wrong price"],
    ["drop-event", `${first} shop-charge`, "a test order"],
    ["release-event", `${second} shop-charge`, "right price"],
    ["resume-function", "shop-charge", "right price"],
  ]);
  await idem.stop();
});
