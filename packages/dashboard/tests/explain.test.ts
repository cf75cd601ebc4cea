// The page Explain, in a real browser over a real server: why it ran, did not run, or ran twice.

import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, expectSoundPages } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { define, openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  story = await tellStory(world, { placements: 4 });
});
afterAll(() => world?.close());

const open = (path: string) => visit(`${world.origin}${path}`);

test("what is typed is looked for on every page: Ctrl-K, words that narrow each other, arrows and Enter", async () => {
  const page = await open("/events");
  await page.locator(".explain-box input").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("placement 48213");
  const results = page.locator(".search-results");
  await results.getByText("data.placementId = 48213").waitFor();
  expect(await results.innerText()).toContain("newest 100 events looked at");
  expect(await axeFindings(page)).toEqual([]);
  if (process.env.BULK_PICTURES !== undefined)
    await page.screenshot({ path: `${process.env.BULK_PICTURES}-search.png` });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).pathname).toBe("/runs");
  expect(page.troubles).toEqual([]);
});

test("the double invoice is told from its number alone: the because, the four gates, both runs and what to do", async () => {
  const page = await open("/events");
  // As a person would: the box in the top bar, by its letter.
  await page.locator(".explain-box input").waitFor();
  // In one go: the field has the focus before the next key.
  await page.keyboard.type("/48213");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.locator(".verdict h2").innerText())
    .toBe("Placement 48213 ran twice because nothing marked its two events as the same");
  expect(page.url()).toContain("/explain?q=48213");
  expect(await page.locator(".verdict .block").innerText()).toBe("×2");
  expect(await page.locator(".gate .name").allInnerTexts()).toEqual([
    "Webhook",
    "Event id",
    "Function key",
    "Destination key",
  ]);
  expect(await page.locator(".gate .did").allInnerTexts()).toEqual([
    "not in use",
    "let it through",
    "let it through",
    "let it through",
  ]);
  const told = (await page.locator(".facts-told .told").allInnerTexts()).join("\n");
  expect(told).toContain(
    "Event evt_48213_u arrived: bullhorn/placement.event. Its eventType was UPDATED, not INSERTED.",
  );
  expect(told).toMatch(/It started run 2, .+ after run 1\. This is the duplicate that slipped through\./);
  expect(told).toContain("Both runs wait in step wait-for-approval.");
  expect(await page.locator(".to-do .button").allInnerTexts()).toEqual([
    "Cancel run 2",
    "See the line to paste",
    "Show how",
  ]);
  expect(page.troubles).toEqual([]);
});

test("every noun leads to its page, and the same story is told from a run and from an event", async () => {
  const page = await open(`/explain?q=${story.doubled.secondRun}`);
  const title = page.locator(".verdict h2");
  await expect.poll(() => title.innerText()).toContain("Placement 48213 ran twice");
  const link = (name: string) =>
    page.locator(".facts-told").getByRole("link", { name, exact: true }).first().getAttribute("href");
  expect(await link("run 2")).toBe(`/runs/${story.doubled.secondRun}`);
  expect(await link("evt_48213_i")).toBe(`/events/${story.doubled.firstEvent}`);
  expect(await link("draft-invoice-from-placement")).toBe(`/functions/${story.drafts}`);
  await page.getByLabel("An id, a key or a value").fill("evt_48213_i");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("q=evt_48213_i");
  await expect.poll(() => title.innerText()).toContain("Placement 48213 ran twice");
});

test("the story can be copied as plain sentences with times", async () => {
  const page = await open("/explain?q=pi_3RPq7Lm");
  await expect
    .poll(() => page.locator(".verdict h2").innerText())
    .toBe("Payment pi_3RPq7Lm ran once because its key was taken: three duplicates were stopped");
  await page.getByRole("button", { name: "Copy as text" }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toContain("Payment pi_3RPq7Lm ran once because its key was taken");
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  expect(lines).toContain(
    "Function key: stopped it. Key pi_3RPq7Lm was taken: three duplicates were answered with the first run.",
  );
  // Three askings are one sentence.
  expect(lines.filter((line) => line.includes("asked again 3"))).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} {2}Event .+ asked again 3 times: .+ The last time at \d\d:\d\d:/),
  ]);
});

test("several hits are a list to choose from, and none says how long things are kept and what to try", async () => {
  const page = await open("/explain?q=evt_482");
  await expect.poll(() => page.locator(".hits h2").innerText()).toBe("evt_482 is part of eight event ids.");
  expect(await page.locator(".hits .row").count()).toBe(8);
  await page.locator(".hits .row-link").first().click();
  await expect.poll(() => page.locator(".verdict h2").innerText()).toContain("ran twice");
  await page.goBack();
  await expect.poll(() => page.locator(".hits .row").count()).toBe(8);
  await page.getByLabel("An id, a key or a value").fill("no such thing");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".hits .empty").innerText()).toContain("Keys are kept until");
  expect(await page.locator(".hits .row").count()).toBeGreaterThan(0);
});

test("the run that slipped through is cancelled from here, after asking, and the story goes on with it", async () => {
  const page = await open("/explain?q=48212");
  await page.getByRole("button", { name: "Cancel run 2" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.innerText()).toContain("Steps that finished stay finished");
  await dialog.getByLabel("Reason (optional)").fill("invoiced twice");
  await dialog.getByRole("button", { name: "Cancel run 2" }).click();
  await expect.poll(() => page.locator(".facts-told").innerText()).toContain("Run 2 was cancelled");
  expect(await page.locator(".to-do .button").first().innerText()).toBe("Compare the two");
  expect(await page.evaluate(() => document.querySelector("dialog[open]"))).toBeNull();
});

test("hostile ids are text: nothing of them becomes an element or turns the line around", async () => {
  const id = 'x"><img src=x onerror=alert(1)>\u202e<b>gnp.exe';
  await define(world, { id: "hostile", idempotency: "event.data.id" }, { event: "hostile/event" }, () => ({
    id: "<script>alert(1)</script>",
  }));
  await world.send({ name: "hostile/event", id, data: { id } });
  const page = await open(`/explain?q=${encodeURIComponent(id)}`);
  await expect
    .poll(() => page.locator(".verdict h2").innerText())
    .toContain("<img src=x onerror=alert(1)>‹U+202E›<b>gnp.exe");
  expect(await page.locator("main img, main b:not(.doubled)").count()).toBe(0);
  expect(page.troubles).toEqual([]);
});

test("it is sound to assistive technology, and never scrolls sideways in either size", async () => {
  await expectSoundPages(world.origin, [
    "/explain",
    "/explain?q=48213",
    "/explain?q=pi_3RPq7Lm",
    "/explain?q=evt_482",
    "/explain?q=none",
  ]);
});
