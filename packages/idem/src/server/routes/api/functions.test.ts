import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listApps } from "./apps.ts";
import { listFunctions } from "./list-functions.ts";
import { pauseFunction, resumeFunction } from "./pause-function.ts";
import { readFunction } from "./read-function.ts";
import { readStatus } from "./read-status.ts";
import { sendSignal } from "./send-signal.ts";

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", retries: 2 },
      run: async () => "charged",
    },
    approve: {
      on: "order/large",
      run: async ({ step }) => step.waitForSignal("ok", { signal: "approved", timeout: "1d" }),
    },
  });
  return world;
}

const params = { function: "shop-charge" };

describe.each(stores)("functions over /api on %s", (store) => {
  test("functions are listed with their configuration and their open runs", async () => {
    const world = await shop(store);
    await world.send({ name: "order/large" });
    await world.idle();
    const { body } = await world.ask(listFunctions);
    expect(body.functions).toMatchObject([
      {
        function: "shop-approve",
        key: null,
        runtime: null,
        open: { queued: 0, running: 0, waiting: 1, due: 0 },
      },
      {
        function: "shop-charge",
        id: "charge",
        triggers: [{ event: "order/paid" }],
        key: { expression: "event.data.order", windowMs: 86_400_000, afterFailure: "keep" },
        retries: 2,
        pausedAt: null,
        open: { queued: 0, running: 0, waiting: 0, due: 0 },
      },
    ]);
    expect((await world.ask(readFunction, { params })).body.function).toEqual(body.functions[1]);
    expect(await world.ask(readFunction, { params: { function: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "FUNCTION_UNKNOWN" },
    });
  });

  test("a paused function starts nothing until it is resumed, and saying so twice changes nothing", async () => {
    const world = await shop(store);
    const at = world.platform.wallMs();
    const paused = await world.ask(pauseFunction, { params, body: { reason: "wrong price" } });
    expect(paused.body).toMatchObject({ changed: true, function: { pausedAt: at } });
    await world.advance(10);
    const again = await world.ask(pauseFunction, { params });
    expect(again.body).toMatchObject({ changed: false, function: { pausedAt: at } });
    expect(await world.send({ name: "order/paid", data: { order: 1 } })).toMatchObject({ runId: "" });
    const resumed = await world.ask(resumeFunction, { params });
    expect(resumed.body).toMatchObject({ changed: true, function: { pausedAt: null } });
    expect((await world.ask(resumeFunction, { params })).body).toMatchObject({ changed: false });
    expect((await world.send({ name: "order/paid", data: { order: 1 } })).runId).not.toBe("");
    for (const route of [pauseFunction, resumeFunction]) {
      expect(await world.ask(route, { params: { function: "nobody" } })).toMatchObject({ status: 404 });
    }
  });

  test("a signal wakes the run that waits for it, and nobody the second time", async () => {
    const world = await shop(store);
    const { runId } = await world.send({ name: "order/large" });
    await world.idle();
    const body = { signal: "approved", data: { by: "ann" } };
    expect((await world.ask(sendSignal, { body })).body).toEqual({ runId });
    await world.idle();
    expect((await world.ask(sendSignal, { body })).body).toEqual({ runId: null });
    expect((await world.store.reads.run("default", runId))!.result).toBe('{"signal":"approved","data":{"by":"ann"}}');
    expect(await world.ask(sendSignal, { body: { data: 1 } })).toMatchObject({ status: 400 });
  });

  test("the status tells what the server is and how much is open", async () => {
    const world = await shop(store);
    await world.send({ name: "order/large" });
    await world.idle();
    await world.ask(pauseFunction, { params });
    expect((await world.ask(readStatus)).body).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      mode: "dev",
      store,
      origin: "http://127.0.0.1:8288",
      env: "default",
      environments: ["default"],
      functions: { count: 2, paused: 1, withoutKey: 1 },
      runs: { queued: 0, running: 0, waiting: 1, due: 0 },
    });
  });
});

test("no credentials of a store are shown", async () => {
  const world = await apiWorld();
  Object.assign(world.world.settings, { store: "postgres://idem:secret@db.example:5432/idem?password=secret" });
  const { body } = await world.ask(readStatus);
  expect(body.store).not.toContain("secret");
  expect(body.store).toContain("db.example:5432");
});

test("apps are listed as they are served", async () => {
  const world = await apiWorld();
  const app = {
    app: "shop",
    url: "http://127.0.0.1:3000/api/inngest",
    kind: "http" as const,
    sdk: "js:v4.24.0",
    framework: "nodejs",
    appVersion: null,
    functionCount: 2,
    syncedAt: 5,
    error: null,
    workers: null,
  };
  world.apps.push(app);
  expect((await world.ask(listApps)).body).toEqual({ apps: [app], tried: [] });
});
