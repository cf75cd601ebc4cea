// The first minutes with an empty server, in a real browser: each step lights up as its thing arrives.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { allLooks, looks, scrollsSideways, visit, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

describe("first minutes", () => {
  test("an empty server says how an app is connected, with its own address, for four kinds of app", async () => {
    const page = await visit(`${world.origin}/`);
    await page.getByRole("heading", { name: "Nothing is connected yet. Four steps, about five minutes" }).waitFor();
    for (const kind of ["Next.js", "Express", "Inngest app"]) {
      await page.getByRole("button", { name: kind }).click();
      await expect.poll(() => page.locator(".snippet pre").allTextContents().then(String)).toContain(world.origin);
    }
    await page.getByRole("button", { name: "Embedded" }).click();
    await page.getByText("idem.dashboard(").waitFor();
    for (const look of process.env.ALL_LOOKS === "1" ? allLooks : looks) {
      await wear(page, look);
      expect([look, await axeFindings(page)]).toEqual([look, []]);
      expect(await scrollsSideways(page)).toBe(false);
    }
    expect(page.troubles).toEqual([]);
  });

  test("app, event, run and duplicate light up as they arrive, and then it is over", async () => {
    const page = await visit(`${world.origin}/`);
    await page.getByRole("heading", { name: /^Nothing is connected yet/ }).waitFor();
    await define(
      world,
      { id: "confirm-order", idempotency: "event.data.orderId" },
      { event: "order/placed" },
      async ({ event, step }) => step.run("mail", () => `mail for ${event.data.orderId}`),
    );
    await page.getByRole("heading", { name: "One of four. Send an event" }).waitFor();
    await page.getByText('await idem.send({ name: "order/placed", data: {"orderId":1} });').waitFor();
    await page.getByRole("button", { name: "Send it", exact: true }).click();
    await page.getByRole("heading", { name: "Three of four. One duplicate to go" }).waitFor();
    await page.getByText(/key 1 is held by run/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByRole("heading", { name: /^Four of four/ }).waitFor();
    expect((await world.api("/api/runs")).runs).toHaveLength(1);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    // A visitor now comes to the overview.
    const other = await visit(`${world.origin}/`);
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    expect(page.troubles).toEqual([]);
  });
});
