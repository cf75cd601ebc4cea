// Events come in (docs/reference/wire.md#events).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { World } from "./world.ts";

const [one, two] = ["9e41c7d20ab85f36", "d7203b9f5c18e6a4"];
const app: HostedApp = { id: "shop", adapter: "node", functions: ["traces"] };

describe.each(["dev", "start"] as const)("with idem %s", (mode) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode, apps: [app], eventKeys: [one, two] });
  });
  afterAll(() => world?.close());

  const name = "shop/sequential";
  const runsOf = async (eventId: string) =>
    (await world.rest.get(`/v1/events/${eventId}/runs`)).data.map(({ run_id }: { run_id: string }) => run_id);
  const sums = async (ids: readonly string[]) =>
    Promise.all(
      ids.map(async (id) => (await world.rest.end(await world.rest.runOf(id, "shop-sequential"))).output.sum),
    );

  test("send() answers an id for each event, in order, and each starts one run", async () => {
    const ids = await world.host.send(
      "shop",
      Array.from({ length: 20 }, (_, n) => ({ name, data: { n } })),
    );
    expect(new Set(ids).size).toBe(20);
    const stored = await Promise.all(ids.map((id) => world.rest.get(`/v1/events/${id}`)));
    expect(stored.map(({ data }) => data.data.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(await sums(ids)).toEqual(ids.map(() => 3));
    for (const id of ids) expect(await runsOf(id)).toHaveLength(1);
  });

  test("an answer that got lost is asked for again by the SDK, and no second run starts", async () => {
    let lost = 0;
    const seeds: (string | undefined)[] = [];
    const undo = world.reports.disturb({
      after: ({ path, headers }) => {
        if (!path.startsWith("/e/")) return null;
        seeds.push(headers["x-inngest-event-id-seed"]);
        return lost++ < 2 ? "cut" : null;
      },
    });
    const marker = `lost-${mode}`;
    const ids = await world.host.send("shop", [
      { name, data: { marker, n: 1 } },
      { name, data: { marker, n: 2 } },
    ]);
    undo();
    expect(seeds).toHaveLength(3);
    expect(new Set(seeds).size).toBe(1);
    expect(await sums(ids)).toEqual([3, 3]);
    const { runs } = await world.rest.get("/api/runs?function=shop-sequential&limit=100");
    const ofThese = runs.filter(({ eventId }: { eventId: string }) => ids.includes(eventId));
    expect(ofThese).toHaveLength(2);
  });

  test("a request that is sent again with its seed is told the same and starts nothing", async () => {
    const seed = { "x-inngest-event-id-seed": `${Date.now()},${Buffer.from("0123456789").toString("base64")}` };
    const events = [{ name, data: { n: 1 } }, { name }];
    const first = await world.rest.post(events, seed);
    const second = await world.rest.post(events, seed);
    expect(first).toMatchObject({ status: 200, json: { status: 200 } });
    expect(second.json.ids).toEqual(first.json.ids);
    await sums(first.json.ids);
    for (const id of first.json.ids) expect(await runsOf(id)).toHaveLength(1);
  });

  test("an id that its sender chose starts a function once", async () => {
    const event = { id: `order-7-${mode}`, name, data: {} };
    const ids = await world.host.send("shop", [event]);
    const again = await world.host.send("shop", [event]);
    await sums(ids);
    expect(await runsOf(again[0]!)).toEqual(await runsOf(ids[0]!));
  });

  test("a request is taken as a whole or not at all, and says which event is wrong and why", async () => {
    const whole = "shop/whole-or-not-at-all";
    const { status, json } = await world.rest.post([{ name: whole }, { name: "inngest/reserved" }, { name: whole }]);
    expect(status).toBe(400);
    expect(json).toMatchObject({ status: 400, ids: [] });
    expect(json.error).toMatch(/Event 2 of 3 .*inngest\/.* reserved/);
    expect((await world.rest.get(`/v1/events?name=${whole}`)).data).toEqual([]);
    await expect(world.host.send("shop", [{ name: "inngest/reserved" }])).rejects.toThrow(/reserved/);
  });

  test(
    mode === "dev" ? "any event key is good" : "every event key the server was given is good, and no other",
    async () => {
      const statuses = await Promise.all(
        [one, two, "key-three"].map(async (key) => (await world.rest.post([{ name }], {}, key)).status),
      );
      expect(statuses).toEqual(mode === "dev" ? [200, 200, 200] : [200, 200, 401]);
    },
  );
});
