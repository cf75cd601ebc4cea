// A long list in a real browser: rows that are drawn as they come in sight, and the keyboard.
import { afterAll, beforeAll, expect, test } from "vitest";
import { visit } from "./browser.ts";
import { openWorld, tellStory, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  await tellStory(world, { placements: 3 });
});
afterAll(() => world?.close());

test("everything is reached with the keyboard: rows with j and k, pages with g, the list of keys with ?", async () => {
  const page = await visit(`${world.origin}/events`);
  await expect.poll(() => page.locator(".list .row").count()).toBeGreaterThan(10);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  expect(await page.evaluate(() => document.activeElement?.closest<HTMLElement>("[data-index]")?.dataset.index)).toBe(
    "0",
  );
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toMatch(/\/events\/01/);
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await expect.poll(() => page.locator("h1").innerText()).toBe("Keys");
  await page.keyboard.press("?");
  await expect.poll(() => page.getByRole("dialog").innerText()).toContain("Go to Events");
});

test("of a long list only what is in sight is drawn, older rows come by scrolling, and back comes back to the same place", async () => {
  const many = Array.from({ length: 350 }, (_, i) => ({ name: "agency/many", id: `many-${i}`, data: { i } }));
  await world.send(...many);
  const page = await visit(`${world.origin}/events?name=agency%2Fmany`);
  const rows = page.locator(".list .row");
  await expect.poll(() => rows.count()).toBe(100);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 4_000);
      return page.getByText("many-0", { exact: true }).count();
    })
    .toBe(1);
  expect(await rows.count()).toBeLessThan(100);
  await page.getByText("many-5", { exact: true }).scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  await rows.filter({ hasText: "many-5" }).first().locator(".row-link").click();
  await expect.poll(() => page.locator("h2").first().innerText()).toBe("agency/many");
  await page.goBack();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(before);
  expect(await page.getByText("many-5", { exact: true }).count()).toBe(1);
});
