// The dashboard mounted in an application: Express, an engine in the same process, and the application's word for who looks.
import type { AddressInfo } from "node:net";
import express from "express";
import { Idem } from "idem";
import { asListener } from "idem/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, wear } from "./browser.ts";

const idem = new Idem({
  id: "shop",
  store: "memory:",
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "placement/saved" },
  async ({ event, step }) => step.run("create-draft", () => ({ invoice: `in_${event.data.placementId}` })),
);
idem.createFunction({ id: "approve" }, { event: "approval/asked" }, ({ step }) =>
  step.waitForEvent("yes", { event: "approval/given", timeout: "1h" }),
);

let close: () => Promise<void>;
let origin: string;

beforeAll(async () => {
  const app = express();
  const dashboard = idem.dashboard({
    base: "/idem",
    authorize: (request) => {
      const [, who] = /(?:^|; )who=(\w+)/.exec(request.headers.get("cookie") ?? "") ?? [];
      if (who === undefined) return null;
      return { role: who === "ann" ? "operator" : "viewer", name: `${who}@shop.example` };
    },
  });
  app.use("/idem", asListener(dashboard));
  app.get("/", (_request, response) => void response.send("a shop"));
  await idem.start();
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await idem.stop({ grace: 0 });
  };
  const save = (placementId: number) => idem.send({ name: "placement/saved", data: { placementId } });
  for (const placementId of [7, 7, 8]) await save(placementId);
});

afterAll(() => close?.());

/** As a person the application knows. */
async function visitAs(who: string, path: string) {
  const page = await visit(`${origin}/`);
  await page.context().addCookies([{ name: "who", value: who, url: origin }]);
  await page.goto(`${origin}/idem${path}`);
  return page;
}

test("an operator sees the keys of the program around it, opens a run, hears of another at once, and cancels it in their own name", async () => {
  const page = await visitAs("ann", "/runs");
  await page.getByRole("heading", { name: "Every key ran once. 1 duplicate was answered" }).waitFor();
  const row = page.locator(".list .row", { hasText: "placementId 7" });
  await row.getByRole("link").first().click();
  await page.getByText("in_7").first().waitFor();

  await page.goto(`${origin}/idem/runs?group=none`);
  await page.locator(".list .row", { hasText: "draft-invoice" }).first().waitFor();
  const { decisions } = await idem.send({ name: "approval/asked", data: { order: 1 } });
  await page.locator(".list .row", { hasText: "approve" }).waitFor();

  const runId = decisions[0]!.runId!;
  await page.goto(`${origin}/idem/runs/${runId}`);
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Cancel/ })
    .click();
  await page
    .getByText(/Cancelled run .* It is in the audit/)
    .first()
    .waitFor();
  await page.goto(`${origin}/idem/audit`);
  await page.locator(".audit .row", { hasText: "cancelled run" }).getByText("ann@shop.example").waitFor();
  for (const look of looks) {
    await wear(page, look);
    expect([look, await axeFindings(page)]).toEqual([look, []]);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(page.troubles).toEqual([]);
});

test("a viewer looks and cannot act, and whom the application does not know sees nothing", async () => {
  const { decisions } = await idem.send({ name: "approval/asked", data: { order: 2 } });
  const page = await visitAs("ben", `/runs/${decisions[0]!.runId}`);
  await page.getByRole("button", { name: "Cancel run" }).waitFor();
  expect(await page.getByRole("button", { name: "Cancel run" }).isDisabled()).toBe(true);
  const refused = await page.evaluate(async (path) => {
    const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    return [answer.status, (await answer.json()).next];
  }, `/idem/api/runs/${decisions[0]!.runId}/cancel`);
  expect(refused).toEqual([403, expect.stringContaining("can give you the role of an operator")]);
  await page.goto(`${origin}/idem/settings`);
  await page.getByText("ben@shop.example, as the application around these pages calls you").waitFor();
  expect(page.troubles).toEqual([]);
  await page.context().clearCookies();
  expect((await page.goto(`${origin}/idem/runs`))!.status()).toBe(403);
});

test("what only a server can do is said in words and not offered", async () => {
  const page = await visitAs("ann", "/webhooks");
  await page.getByText("No source is received here").waitFor();
  expect(await page.getByRole("button", { name: "Stripe" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
  await page.goto(`${origin}/idem/apps`);
  await page.getByRole("heading", { name: "Apps" }).waitFor();
  expect(await page.getByRole("button", { name: "Add an app" }).count()).toBe(0);
  expect(page.troubles).toEqual([]);
});

test("charts are drawn in a browser whose language is none", async () => {
  const page = await visit(`${origin}/`);
  const context = await page.context().browser()!.newContext();
  await context.addCookies([{ name: "who", value: "ann", url: origin }]);
  await context.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix", configurable: true }),
  );
  const odd = await context.newPage();
  const broken: string[] = [];
  odd.on("pageerror", (error) => broken.push(error.message));
  await odd.goto(`${origin}/idem/functions/shop-draft-invoice`);
  await odd.locator(".chart canvas").first().waitFor();
  expect(broken).toEqual([]);
  await context.close();
});
