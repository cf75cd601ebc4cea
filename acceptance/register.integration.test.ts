// Apps tell their functions (docs/reference/wire.md#syncs).
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { World } from "./world.ts";

const shop: HostedApp = { id: "shop", adapter: "node", functions: ["traces"] };
const later: HostedApp = { id: "shop", path: "shop-later", adapter: "express", functions: ["moved"] };
const depot: HostedApp = { id: "depot", adapter: "hono", functions: ["traces"] };
const broken: HostedApp = { id: "broken", adapter: "node", functions: ["refused"] };

/** Apps with one option that cannot hold, and what they are told of it. */
const wrongOptions: Readonly<Record<string, string>> = {
  "wrong-concurrency": 'Option "concurrency" is not usable',
  "wrong-scope": 'Option "concurrency.key" is not usable',
  "wrong-throttle": 'Option "throttle.period" is not usable',
  "wrong-rate-limit": 'Option "rateLimit.period" is not usable',
  "wrong-debounce": 'Option "debounce.period" is not usable',
  "wrong-batch": 'Option "batchEvents.maxSize" is not usable',
  "wrong-batch-and-singleton": 'Option "batchEvents" is not usable: it cannot stand beside "singleton"',
  "wrong-priority": "priority.run",
  "wrong-cancel": "cancelOn[0].if",
  "wrong-cron": "61 * * * *",
};
const wrong = Object.keys(wrongOptions).map((id): HostedApp => ({ id, adapter: "node", functions: ["wrong"] }));

describe.each(["dev", "start"] as const)("with idem %s", (mode) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode, registeredBy: "nobody", apps: [shop, later, depot, broken, ...wrong] });
  });
  afterAll(() => world?.close());

  const functionsOf = async (app: string): Promise<string[]> => {
    const { status, json } = await world.rest.ask(`/v1/apps/${app}/functions`);
    return status === 404 ? [] : json.data.map(({ slug }: { slug: string }) => slug).sort();
  };
  const appOf = async (name: string) =>
    (await world.rest.get("/api/apps")).apps.find(({ app }: { app: string }) => app === name);

  test("an app registers, and its functions can be started", async () => {
    expect(await world.register(shop)).toMatchObject({ status: 200, modified: true });
    expect(await functionsOf("shop")).toContain("shop-fail-failure");
    const runId = await world.rest.start("shop/sequential");
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed" });
  });

  test("an app that registers again unchanged changes nothing", async () => {
    await world.register(shop);
    expect(await world.register(shop)).toMatchObject({ status: 200, modified: false });
    expect(await world.register(shop)).toMatchObject({ status: 200, modified: false });
  });

  test("a deployment's id is no part of the app's address", async () => {
    expect(await world.register(depot, "?deployId=dep1")).toMatchObject({ status: 200, modified: true });
    expect(await world.register(depot, "?deployId=dep2")).toMatchObject({ status: 200, modified: false });
    expect((await appOf("depot")).url).toMatch(/\/api\/depot$/);
    const runId = await world.rest.start("depot/sequential");
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed" });
  });

  test("a function that cannot be is refused with its name and the reason, and nothing of its app is taken", async () => {
    const { status, message } = await world.register(broken);
    expect(status).toBe(400);
    expect(message).toContain("broken-broken");
    expect(message).toContain("event.data.x ==");
    expect(await functionsOf("broken")).toEqual([]);
  });

  test("an option that cannot hold is refused by its name", async () => {
    const told = await Promise.all(wrong.map((app) => world.register(app)));
    for (const [i, { status, message }] of told.entries()) {
      const { id } = wrong[i]!;
      expect([status, message]).toEqual([400, expect.stringContaining(`Function "${id}-fn" cannot be registered`)]);
      expect(message).toContain(wrongOptions[id]);
      expect(await functionsOf(id)).toEqual([]);
    }
  });

  test("an app that moved keeps its functions; the ones it no longer has are put away", async () => {
    await world.register(shop);
    const open = await world.rest.start("shop/sleep");
    expect(await world.register(later)).toMatchObject({ status: 200, modified: true });
    expect(await functionsOf("shop")).toEqual(["shop-sequential"]);
    expect((await appOf("shop")).url).toMatch(/\/api\/shop-later$/);
    expect(await world.register(shop)).toMatchObject({ status: 200, modified: true });
    // A run of a function that was gone meanwhile goes on when it is back.
    expect(await world.rest.end(open)).toMatchObject({ status: "Completed" });
    const runId = await world.rest.start("shop/sequential");
    expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { sum: 3 } });
  });
});

test("an app that starts after the server is registered as soon as it answers", async () => {
  const world = await World.open({ mode: "dev", registeredBy: "start", serverFirst: true, apps: [shop] });
  onTestFinished(() => world.close());
  expect(world.serverLog).toContain(`waiting for ${world.urlOf(shop)}`);
  const runId = await world.rest.start("shop/sequential");
  expect(await world.rest.end(runId)).toMatchObject({ status: "Completed" });
});
