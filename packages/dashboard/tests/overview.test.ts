// The overview, the line of a function and the workers in a real browser over a real server: numbers that are right, and that lead to what
// they count.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectSoundPages } from "./accessibility.ts";
import { visit, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

const failures = 230;
const inLine = 12;
let world: World;
let charge: string;
let render: string;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  charge = await define(
    world,
    { id: "charge-order", idempotency: "event.data.order", retries: 0 },
    { event: "order/paid" },
    ({ event }) => {
      if (event.data.order < failures) throw new Error("refused by the bank");
      return { charged: event.data.order };
    },
  );
  render = await define(
    world,
    { id: "render-image", idempotency: "event.data.image", concurrency: { limit: 2 } },
    { event: "catalogue/imported" },
    ({ step }) => step.run("render", () => new Promise(() => {})),
  );
  await define(world, { id: "nightly-digest" }, { cron: "TZ=Europe/Amsterdam 0 3 * * *" }, () => null);
  const orders = Array.from({ length: failures + 8 }, (_, order) => ({ name: "order/paid", data: { order } }));
  for (let from = 0; from < orders.length; from += 100) await world.send(...orders.slice(from, from + 100));
  await world.send({ name: "order/paid", data: { order: failures } });
  await world.send(
    ...Array.from({ length: inLine + 2 }, (_, image) => ({ name: "catalogue/imported", data: { image } })),
  );
  await vi.waitUntil(
    async () => {
      const { ended, waiting, atWork } = (await world.api("/api/overview")).total;
      return ended === failures + 8 && waiting === inLine && atWork === 2;
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => world?.close());

const open = (path: string) => visit(`${world.origin}${path}`);
const headline = (page: Page) => page.locator(".headline h2").innerText();
const patience = { timeout: 10_000 };

test("the overview says what needs a person, worst first, and its numbers lead to exactly what they count", async () => {
  const page = await open("/");
  await page.locator(".needs li").first().waitFor(patience);
  const told = await page.locator(".needs li p").allInnerTexts();
  expect(told[0]).toContain(`${failures} runs of charge-order failed`);
  expect(told[1]).toContain(`${inLine} runs in line at render-image behind concurrency 2.`);
  expect(await page.locator(".all-ends .figure b").first().innerText()).toBe(`${failures + 8}`);
  await page.getByRole("link", { name: `See the ${failures}` }).click();
  await expect.poll(() => headline(page)).toContain(`${failures} runs failed`);
  expect(await page.locator(".headline .note").getAttribute("class")).toContain("is-failed");
  await page.goBack();
  await page.getByRole("link", { name: "The runs of charge-order that ended" }).click();
  await expect.poll(() => headline(page)).toContain(`${failures + 8} runs ended`);
  expect(page.troubles).toEqual([]);
});

test("the charts' cursor tells its values once, by pointer and by keys, and Enter opens those runs", async () => {
  const page = await open("/?range=1h");
  const charts = page.locator(".all-ends");
  await charts.waitFor(patience);
  const values = () => charts.locator(".values").innerText();
  await charts.focus();
  const now = await values();
  await page.keyboard.press("ArrowLeft");
  expect(await values()).not.toBe(now);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("by")).toBe("ended");
  expect(page.troubles).toEqual([]);
});

test("a filter by state is told by its own headline and number, and never with a tick", async () => {
  const page = await open("/runs?state=failed");
  await expect.poll(() => headline(page)).toBe(`${failures} runs failed in the last 7 days`);
  expect(await page.locator(".headline .note").getAttribute("class")).toContain("is-failed");
  // Numbers of other runs than the list has are not shown over it.
  expect(await page.locator(".summary").count()).toBe(0);
  await page.goto(`${world.origin}/runs?state=queued`);
  await expect.poll(() => headline(page)).toBe(`${inLine} runs stand in line`);
  await page.goto(`${world.origin}/runs`);
  await expect.poll(() => headline(page)).toBe(`${failures} runs failed in the last 7 days`);
});

test("each function is in the filter once, under the name that finds its runs", async () => {
  const page = await open("/runs");
  await page.locator(".row").first().waitFor(patience);
  const names = await page.getByLabel("Function").locator("option").allInnerTexts();
  expect(names).toEqual(
    ["all", charge, "agency-nightly-digest", render].sort((a, b) =>
      a === "all" ? -1 : b === "all" ? 1 : a < b ? -1 : 1,
    ),
  );
  await page.getByLabel("Function").selectOption(charge);
  await expect.poll(() => page.locator(".row").count()).toBeGreaterThan(0);
});

test("a function's page says the same number as its chart, and what its line waits for", async () => {
  const page = await open(`/functions/${charge}`);
  const facts = page.locator(".facts > div");
  await expect.poll(() => facts.filter({ hasText: "Failed" }).locator("dd").innerText()).toBe(`${failures}`);
  await expect
    .poll(() => page.locator(".function-charts .numbers").first().innerText())
    .toContain(`${failures} failed`);
  await page.goto(`${world.origin}/functions/${render}`);
  await expect
    .poll(() => page.locator(".note h2").first().innerText())
    .toContain(`${inLine} in line behind concurrency 2`);
  expect(await page.locator("main").innerText()).not.toContain("could run now");
  await page.getByRole("link", { name: "Open the line" }).click();
  await expect
    .poll(() => page.locator(".note h2").first().innerText())
    .toContain(`${inLine} in line behind concurrency 2`);
  await expect.poll(() => page.locator(".ahead").innerText()).toContain("2 of 2, full");
  expect(page.troubles).toEqual([]);
});

test("a limit is raised for a while from its line, the page says until when, and it is ended there", async () => {
  const page = await open(`/functions/${render}/line`);
  await page.getByRole("button", { name: "Raise for a while" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Runs at work at once").fill("4");
  await dialog.getByLabel("Reason").fill("month end");
  await dialog.getByRole("button", { name: "Raise it to 4" }).click();
  await expect.poll(() => page.locator(".ahead").innerText()).toContain("4 of 4, full");
  expect(await page.locator(".stands-in").innerText()).toMatch(
    /^Raised from 2 until .+\. Then 2 counts again by itself\.$/,
  );
  await expect
    .poll(() => page.locator(".note h2").first().innerText())
    .toContain(`${inLine - 2} in line behind concurrency 4`);
  await page.getByRole("button", { name: "End it now" }).click();
  await dialog.getByLabel("Reason").fill("it is done");
  await dialog.getByRole("button", { name: "Back to 2" }).click();
  await expect.poll(() => page.locator(".ahead").innerText()).toContain("4 of 2, full");
  const { entries } = await world.api("/api/audit?action=change-limit");
  expect(entries.map(({ reason }: { reason: string }) => reason)).toEqual([
    "back to 2: it is done",
    "2 to 4 for 60 min: month end",
  ]);
  expect(page.troubles).toEqual([]);
});

test("the overview, a line and the workers are sound in both sizes", async () => {
  const paths = [
    "/",
    `/functions/${render}/line`,
    "/workers",
    "/runs?state=failed",
    `/functions/${charge}`,
    "/?range=7d",
  ];
  await expectSoundPages(world.origin, paths);
  if (process.env.PICTURES === undefined) return;
  for (const [i, path] of paths.entries()) {
    for (const look of [
      { width: 1280, theme: "light" },
      { width: 390, theme: "light" },
      { width: 1280, theme: "dark" },
    ] as const) {
      const page = await visit(`${world.origin}${path}`, look);
      await wear(page, look);
      await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
      await page.screenshot({ path: `${process.env.PICTURES}/${i}-${look.width}-${look.theme}.png`, fullPage: true });
    }
  }
});
