// The radar over a live stream: a second run that nobody asked for is on the page that is open, and is judged without a pointer.
import { afterAll, beforeAll, expect, test } from "vitest";
import { visit } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
const event = "bullhorn/placement.event";

beforeAll(async () => {
  world = await openWorld();
  await define(world, { id: "draft-invoice" }, { event }, ({ event: { data }, step }) =>
    step.run("create-stripe-draft", () => ({ id: `in_1RPq8x${data.placementId}${data.eventType}` })),
  );
});
afterAll(() => world?.close());

const patience = { timeout: 30_000 };

test("a second run nobody asked for is on whatever page is open, in words, badge and title, and is acknowledged with the keyboard alone", async () => {
  const page = await visit(`${world.origin}/settings`);
  await page.getByText("Live", { exact: true }).waitFor();
  for (const placementId of [48_213, 48_209, 48_207])
    for (const eventType of ["INSERTED", "UPDATED"])
      await world.send({ name: event, data: { placementId, eventType, clientId: 118, rate: 92.5 } });
  const message = page.locator(".message.is-alert").filter({ hasText: "draft-invoice" });
  await message.first().waitFor(patience);
  expect(await page.locator(".side-bar .badge").textContent()).toMatch(/^\d+ open alerts?$/);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Settings · Idem$/);

  await message.first().getByRole("link").click();
  await page
    .locator(".alert-card")
    .getByRole("heading", { name: /^draft-invoice ran twice for/ })
    .waitFor();
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("Finance corrects these by hand");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page
    .getByText(/Acknowledged by dev/)
    .first()
    .waitFor();
  const { entries } = await world.api("/api/audit?text=finance");
  expect(entries).toMatchObject([{ action: "acknowledge-alert", reason: "Finance corrects these by hand" }]);
  expect(page.troubles).toEqual([]);
});
