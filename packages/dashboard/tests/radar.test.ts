// The radar: a second run that nobody asked for is on every screen at once, and the page ends with the line that stops it.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectSoundPages } from "./accessibility.ts";
import { closePage, openPage, type WatchedPage } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
let page: WatchedPage;

const trigger = (n: number) => `bullhorn/placement.event-${n}`;
const draft = ({ event, step }: any) =>
  step.run("create-stripe-draft", () => ({ id: `in_1RPq8x${event.data.placementId}${event.data.eventType}` }));

beforeAll(async () => {
  world = await openWorld();
  page = await openPage(`${world.origin}/settings`);
});

afterAll(async () => {
  await closePage(page);
  await world?.close();
});

const drafts = (n: number) => `draft-invoice-${n}`;
const place = (n: number, placementId: number, eventType: string) =>
  world.send({ name: trigger(n), data: { placementId, eventType, clientId: 118, rate: 92.5 } });

/** Two events for each placement: the story. */
async function doubled(n: number, placements: readonly number[]): Promise<void> {
  await define(world, { id: drafts(n) }, { event: trigger(n) }, draft);
  for (const placementId of placements) {
    await place(n, placementId, "INSERTED");
    await place(n, placementId, "UPDATED");
  }
}

const alertMessage = (of: Page) => of.locator(".message.is-alert");
const visible = (of: Page, text: string | RegExp) => of.getByText(text).first().waitFor({ timeout: 30_000 });

test("a second run nobody asked for is on whatever page is open within 5 s, in words, badge and title", async () => {
  await page.getByText("Live", { exact: true }).waitFor();
  // A busy machine may miss it once; what is promised is what the product takes.
  const tries: number[] = [];
  for (let n = 1; n <= 3 && !tries.some((ms) => ms < 5_000); n++) {
    await doubled(n, [48_213, 48_209, 48_207]);
    const secondAt = Date.now();
    await alertMessage(page)
      .filter({ hasText: drafts(n) })
      .waitFor({ timeout: 30_000 });
    tries.push(Date.now() - secondAt);
  }
  expect(Math.min(...tries)).toBeLessThan(5_000);
  expect(await page.locator(".side-bar .badge").textContent()).toMatch(/^\d+ open alerts?$/);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Settings · Idem$/);
  expect(page.troubles).toEqual([]);
});

test("the message leads to the alert, and the alert to the line to paste; once it is registered the page says so", async () => {
  await alertMessage(page).first().getByRole("link").click();
  const card = page.locator(".alert-card");
  await card.getByRole("heading", { name: "draft-invoice-1 ran twice for 3 placements" }).waitFor();
  await expect
    .poll(() =>
      alertMessage(page)
        .filter({ hasText: drafts(1) })
        .count(),
    )
    .toBe(0);
  await card.getByText("create-stripe-draft").waitFor();
  await expect.poll(() => card.locator(".differences").textContent()).toContain("data.eventTypeINSERTED then UPDATED");
  // Two ids under each other, each a link to its run.
  await card.getByRole("link", { name: "in_1RPq8x48213INSERTED" }).waitFor();
  await card.getByRole("link", { name: "in_1RPq8x48213UPDATED" }).waitFor();

  await page.getByRole("button", { name: "Copy the line" }).click();
  const line = 'idempotency: "event.data.placementId",';
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(line);
  await visible(page, "Waiting for the function to register with this key…");
  expect(await page.locator(".suggestion .code .add").textContent()).toBe(`+ ${line}`);

  await define(world, { id: drafts(1), idempotency: "event.data.placementId" }, { event: trigger(1) }, draft);
  await visible(page, "This function has a key");
});

test("an alert is acknowledged with the keyboard alone, and the audit says who and why", async () => {
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("Finance corrects these by hand");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await visible(page, /Acknowledged by dev/);
  await page.goto(`${world.origin}/audit?q=finance`);
  const row = page.locator(".row").first();
  await row.waitFor();
  expect(await row.textContent()).toMatch(/devacknowledged alert .*Finance corrects these by hand/);
  expect(await page.locator(".row").count()).toBe(1);
});

test("a rule is a sentence with blanks whose preview counts before it is made; the default one cannot be removed", async () => {
  await page.goto(`${world.origin}/radar/rules`);
  await visible(page, /our best guess/);
  expect(await page.getByRole("button", { name: "Remove" }).count()).toBe(0);
  await page.getByLabel(/^Field, such as/).fill("event.data.placementId");
  await visible(page, /It would have alerted \d+ times in 7 days/);
  await page.getByLabel("Reason").fill("one draft per placement");
  await page.getByRole("button", { name: "Make this rule" }).click();
  await visible(page, "Alert when more than 1 run for one placementId within 60 s in every function.");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("only to try it");
  await page.getByRole("button", { name: "Remove the rule" }).click();
  await expect.poll(() => page.getByRole("button", { name: "Remove", exact: true }).count()).toBe(0);
  await page.getByLabel("Of what").selectOption("effects");
  await visible(page, "It would have alerted 0 times in 7 days: no step has recorded an effect yet.");
  const closely = page.getByLabel("Watched closely").getByRole("listitem").first();
  expect(await closely.textContent()).toMatch(/^agency-draft-invoice-\d.*watched closely until \d+ \w+$/);
});

test("a channel is made, tried, changed and removed in the page; its secret is shown once and its address never again", async () => {
  const add = async (kind: string, name: string, address: string | null) => {
    await page.getByRole("button", { name: "Add a channel" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Kind").selectOption(kind);
    await form.getByLabel("Name").fill(name);
    if (address !== null) await form.getByLabel("Address").fill(address);
    await form.getByLabel("Reason").fill("a test");
    await page.getByRole("button", { name: "Add the channel" }).click();
  };
  const channels = page.getByLabel("Channels");
  await add("log", "ops", null);
  await channels.getByText("ops, the log").waitFor();
  await channels.getByRole("button", { name: "Send a test message" }).click();
  await visible(page, "Sent a test message to ops.");
  await add("webhook", "pager", `${world.origin}/hidden-path`);
  await page
    .getByRole("dialog")
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  const pager = channels.getByRole("listitem").filter({ hasText: "pager" });
  expect(await pager.textContent()).toContain(`pager, webhook at ${world.origin}`);
  await pager.getByRole("button", { name: "Change" }).click();
  await page.getByRole("dialog").getByLabel("New address (optional)").fill("ftp://elsewhere");
  await page.getByRole("dialog").getByLabel("Reason").fill("it moved");
  await page.getByRole("button", { name: "Change the channel" }).click();
  await page.getByRole("dialog").getByText("it must begin with https:// or http://").waitFor();
  await page.getByRole("button", { name: "Not now" }).click();
  expect(await page.content()).not.toMatch(/hidden-path|whsec_/);
  await pager.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("only to try it");
  await page.getByRole("button", { name: "Remove the channel" }).click();
  await pager.waitFor({ state: "detached" });
});

test("an alert says where it was sent, muting it demands a reason, and what was judged is in the history", async () => {
  await doubled(9, [7_001, 7_002, 7_003]);
  await page.goto(`${world.origin}/radar`);
  const card = page.locator(".alert-card", { hasText: drafts(9) });
  await card.getByText(/^Sent to ops at \d\d:\d\d$/).waitFor({ timeout: 30_000 });
  await card.getByRole("button", { name: "Mute" }).click();
  const mute = page.getByRole("button", { name: "Mute the alert" });
  expect(await mute.isDisabled()).toBe(true);
  await page.getByRole("dialog").getByLabel("Reason").fill("a test of the source");
  await mute.click();
  await card.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "History" }).click();
  await visible(page, "a test of the source");
});

test("a suggested key that will not do is left out with a reason, and offered again when that is taken back", async () => {
  await page.goto(`${world.origin}/radar/suggestions/agency-${drafts(9)}`);
  const panel = page.locator(".suggestion");
  await panel.getByText("The field was there in all 6 runs.").waitFor();
  await panel.getByRole("button", { name: "Not this one" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("billed every month");
  await page.getByRole("button", { name: "Leave this key out" }).click();
  await panel.getByText("Refused by dev: billed every month").waitFor();
  await panel.getByText(/^No other field of its events/).waitFor();
  await page.reload();
  await panel.getByRole("button", { name: "Offer it again" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("it is billed once");
  await page.getByRole("dialog").getByRole("button", { name: "Offer it again" }).click();
  await panel.getByText('+ idempotency: "event.data.placementId",').waitFor();
  expect(page.troubles).toEqual([]);
});

test("every page of it is accessible, and none scrolls sideways in either size", async () => {
  const { alerts } = await world.api("/api/radar/alerts");
  await define(world, { id: drafts(2) }, { event: trigger(2) }, draft);
  await expectSoundPages(world.origin, [
    "/radar",
    `/radar/alerts/${alerts[0].id}`,
    `/radar/suggestions/agency-${drafts(2)}`,
    "/radar/rules",
    "/radar/history",
    "/audit",
    "/settings",
  ]);
});
