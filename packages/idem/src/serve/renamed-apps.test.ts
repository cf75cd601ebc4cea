// A served app that was renamed with its function: what registration says of former names, and what the server makes of it.
import { expect, test } from "vitest";
import { Idem } from "../sdk/client.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { syncApp } from "../server/sync-app.ts";
import { testServer } from "../server/test-server.suite.ts";
import { served as listen } from "./listening.suite.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

test("an app that is served under a new name, with a function under a new id, goes on with what the server has of both", async () => {
  const server = await testServer();
  const { world, origin, ask } = server;
  const engine = await world.engine("default");
  const keys: string[] = [];
  const version = async (app: { id: string; was?: string }, names: Pick<FunctionOptions, "id" | "was">) => {
    const idem = new Idem({ ...app, server: origin, logger: quiet });
    idem.createFunction({ ...names, idempotency: "event.data.order" }, { event: "order/paid" }, async ({ step }) => {
      await step.run("first", ({ key }) => void keys.push(key));
      await step.waitForEvent("go", { event: "go", timeout: "1d" });
      await step.run("second", ({ key }) => void keys.push(key));
      return names.id;
    });
    await syncApp(world, "default", await listen(idem));
    return idem;
  };
  const send = async (idem: Idem, order: number) =>
    (await idem.send({ name: "order/paid", data: { order } })).decisions.map((each) => `${each.function} ${each.kind}`);

  const before = await version({ id: "shop" }, { id: "bill" });
  expect(await send(before, 7)).toEqual(["bill started"]);
  await engine.idle();
  const after = await version({ id: "billing", was: "shop" }, { id: "charge", was: "bill" });
  expect(await send(after, 7)).toEqual(["charge duplicate-key"]);
  await after.send({ name: "go", data: {} });
  await engine.idle();

  const [run] = await after.runs.list({ function: "charge" });
  expect(run).toMatchObject({ function: "charge", state: "completed", output: "charge" });
  await after.runs.rerun(run!.id);
  await engine.idle();
  await after.send({ name: "go", id: "again", data: {} });
  await engine.idle();
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(2);

  for (const name of ["billing-charge", "shop-bill"]) {
    const { runs } = (await ask(`/api/runs?function=${name}`)).json;
    expect(runs).toMatchObject([{ function: "billing-charge" }, { function: "billing-charge" }]);
    const { function: of } = (await ask(`/api/functions/${name}`)).json;
    expect(of).toMatchObject({ function: "billing-charge", app: "billing", id: "charge" });
    const { keys: taken } = (await ask(`/api/keys?function=${name}`)).json;
    expect(taken).toMatchObject([{ scope: "fn:billing-charge", function: "billing-charge" }]);
    expect((await ask(`/api/keys/fn:${name}/7`)).json.run).toMatchObject({ function: "billing-charge" });
  }
  for (const name of ["billing-charge", "shop-bill"]) {
    const headers = { "content-type": "application/json" };
    const started = await ask(`/invoke/${name}`, { method: "POST", headers, body: '{"data":{"order":8}}' });
    expect(started.status).toBe(200);
  }
  expect((await ask("/api/apps")).json.apps).toMatchObject([{ app: "billing", functionCount: 1 }]);
  expect((await ask("/api/explain?q=7&as=key&function=billing-charge")).json).toMatchObject({
    story: { subject: { function: "billing-charge" } },
  });
  expect((await after.functions.list()).map(({ id, slug, app }) => [id, slug, app])).toEqual([
    ["charge", "billing-charge", "billing"],
  ]);
});
