import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inngest } from "inngest";
import { serve } from "inngest/node";
import { expect, onTestFinished, test } from "vitest";
import { routeWorld } from "../world.suite.ts";
import { addApp, listApps } from "./apps.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function appUrl(): Promise<string> {
  const client = new Inngest({ id: "shop", isDev: true, baseUrl: "http://127.0.0.1:9", logger: silent });
  const pay = client.createFunction({ id: "pay", triggers: [{ event: "order/paid" }] }, async () => null);
  const server = createServer(serve({ client, functions: [pay] }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
}

test("an app is asked for its functions and listed; asked again nothing is modified", async () => {
  const { ask } = await routeWorld();
  const url = await appUrl();
  const added = await ask(addApp, { body: { url } });
  expect(added.body).toMatchObject({ modified: true, app: { app: "shop", functionCount: 1, error: null } });
  addApp.about!.answer.parse(added.body);
  expect((await ask(addApp, { body: { url } })).body).toMatchObject({ modified: false });
  const listed = await ask(listApps);
  listApps.about!.answer.parse(listed.body);
  expect(listed.body.apps).toMatchObject([{ app: "shop", kind: "http" }]);
});

test("what is no URL is refused, and an app that does not answer is told so with the reason", async () => {
  const { ask } = await routeWorld();
  for (const url of ["", "shop", "ftp://127.0.0.1/", 7, undefined]) {
    await expect(ask(addApp, { body: { url } })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  }
  // Port 9 throws away what it is sent, where it is served at all.
  await expect(ask(addApp, { body: { url: "http://127.0.0.1:9/api/inngest" } })).rejects.toMatchObject({
    code: "APP_SYNC_FAILED",
  });
});
