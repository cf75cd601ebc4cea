// What of the Runs page needs a real browser: the live stream, history, a drag, the keyboard, and how it is painted.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { looks, visit, type WatchedPage } from "./browser.ts";
import { define, openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;

beforeAll(async () => {
  world = await openWorld();
  story = await tellStory(world);
  // The radar looks at what was accepted a moment later.
  await vi.waitUntil(async () => (await world.api("/api/totals")).slipped === 8, { timeout: 60_000 });
});

afterAll(() => world?.close());

// A page rests ten times as long as its last reading took: on a machine that does other things that is several seconds.
const patience = { timeout: 60_000 };
const loud = ".row.is-loud";

async function open(path: string, look = looks[0]!, at = world.origin): Promise<WatchedPage> {
  const page = await visit(`${at}${path}`, look);
  await page.locator(".headline h2").waitFor({ timeout: 60_000 });
  await page.locator(".row").first().waitFor({ timeout: 60_000 });
  return page;
}

const texts = (page: Page, selector: string) => page.locator(selector).allInnerTexts();
const asked = (page: Page) => new URL(page.url()).searchParams;
const keysShown = (page: Page) => texts(page, ".groups .row .key .value");
const focusedKey = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest(".row")?.querySelector(".value")?.textContent ?? null);

test("a second run for one placement is on screen as ×2 without a reload", async () => {
  const own = await openWorld();
  const fn = await define(
    own,
    { id: "draft-invoice" },
    { event: "bullhorn/placement.event" },
    async ({ step, event }) => step.run("draft", () => ({ invoice: `in_${event.id}` })),
  );
  const placed = (id: string, eventType: string) =>
    own.send({ name: "bullhorn/placement.event", id, data: { placementId: 48_213, eventType, rate: 92.5 } });
  const first = await placed("evt_1", "INSERTED");
  await own.reached(first.decisions[0]!.runId!, "completed");
  const page = await open("/runs", looks[0]!, own.origin);
  await page.getByRole("heading", { name: "Every key ran once." }).waitFor(patience);
  expect(await page.locator(loud).count()).toBe(0);
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));

  await placed("evt_2", "UPDATED");
  await page.locator(`${loud} .block`).waitFor(patience);

  expect(await texts(page, `${loud} .block`)).toEqual(["×2"]);
  expect(await page.locator(`${loud} .ran`).innerText()).toMatch(/^ran twice, .+ apart$/);
  expect(await texts(page, `${loud} .output`)).toEqual(["in_evt_1", "in_evt_2"]);
  await page.getByRole("heading", { name: "1 key ran more than once in the last 7 days" }).waitFor(patience);
  expect(await page.locator(".headline").innerText()).toContain(`${fn}, which has no key`);
  expect(await page.evaluate(() => (window as any).isSamePage)).toBe(true);
  expect(page.troubles).toEqual([]);
  await own.close();
});

test("the address holds the view: a reload, a copy and Back show the same rows", async () => {
  const page = await open("/runs?order=newest");
  await page.getByRole("combobox", { name: "Function" }).selectOption(story.payments);
  await expect.poll(() => keysShown(page)).toEqual(["pi_3RPpX0c", "pi_3RPq7Lm"]);
  await page.getByRole("combobox", { name: /Filter by text/ }).fill("Lm");
  await expect.poll(() => keysShown(page)).toEqual(["pi_3RPq7Lm"]);
  expect(Object.fromEntries(asked(page))).toEqual({ order: "newest", fn: story.payments, q: "Lm" });

  const copy = await open(new URL(page.url()).pathname + new URL(page.url()).search);
  expect(await keysShown(copy)).toEqual(["pi_3RPq7Lm"]);
  expect(await copy.getByRole("combobox", { name: /Filter by text/ }).inputValue()).toBe("Lm");

  // Typing replaced the entry; choosing the function had added one.
  await page.goBack();
  await expect.poll(async () => (await keysShown(page)).length).toBeGreaterThan(10);
  expect(asked(page).get("fn")).toBeNull();
});

test("dragging over the bars sets the time, and Back takes it away again", async () => {
  const page = await open("/runs");
  const bars = (await page.locator(".summary .u-over").boundingBox())!;
  await page.mouse.move(bars.x + bars.width * 0.5, bars.y + 20);
  await page.mouse.down();
  await page.mouse.move(bars.x + bars.width * 0.75, bars.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("heading", { name: /^Nothing ran from .+ to .+\.$/ }).waitFor(patience);
  const [since, until] = [asked(page).get("since")!, asked(page).get("until")!].map(Date.parse);
  expect((until! - since!) / 86_400_000).toBeCloseTo(7 / 4, 0);
  await page.getByText("No run matches", { exact: true }).waitFor(patience);
  await page.goBack();
  await page.locator(loud).first().waitFor(patience);
});

test("everything is reached without a pointer", async () => {
  const page = await open("/runs?order=newest");
  const all = await keysShown(page);
  await page.keyboard.press("j");
  expect(await focusedKey(page)).toBe(all[0]);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  expect(await focusedKey(page)).toBe(all[1]);
  const doubled = await texts(page, `${loud} .value`);
  await page.keyboard.press("d");
  await expect.poll(() => focusedKey(page)).toBe(doubled[0]);
  await page.keyboard.press("d");
  await expect.poll(() => focusedKey(page)).toBe(doubled[1]);
  await page.keyboard.press("D");
  await expect.poll(() => focusedKey(page)).toBe(doubled[0]);
  await page.keyboard.press("Enter");
  await page.locator(".group-panel .place").first().waitFor(patience);
  expect(await focusedKey(page)).toBe(doubled[0]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("runs-filter");
  await page.keyboard.type("pi_3RPq7Lm");
  await expect.poll(() => keysShown(page)).toEqual(["pi_3RPq7Lm"]);
  // Letters in a field are letters.
  expect(asked(page).get("group")).toBeNull();
  await page.keyboard.press("Tab");
  await page.locator(".groups .row-link").focus();
  await page.keyboard.press("p");
  await page.locator(".live-button", { hasText: "Paused" }).waitFor(patience);
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${story.payment.run}`);
});

test("in grey the block of a doubled key is still the darkest thing in the list", async () => {
  const page = await open("/runs?order=newest");
  const block = page.locator(`${loud} .block`).first();
  await block.waitFor(patience);
  await block.scrollIntoViewIfNeeded();
  const picture = (await page.screenshot()).toString("base64");
  const [inside, ...others] = await Promise.all(
    [block, ...(await page.locator(".groups .row > :not(.block):not(.group-panel)").all())].map(
      async (each) => (await each.boundingBox())!,
    ),
  );
  const greys = await page.evaluate(greysOf, {
    picture,
    boxes: [inside!, ...others].filter(({ y, height }) => y > 60 && y + height < 800),
  });
  const [darkest, ...rest] = greys;
  expect(rest.length).toBeGreaterThan(20);
  expect(Math.min(...rest)).toBeGreaterThan(darkest! + 50);
});

/** The mean grey of each box of a picture: 0 is black. */
async function greysOf({
  picture,
  boxes,
}: {
  picture: string;
  boxes: { x: number; y: number; width: number; height: number }[];
}): Promise<number[]> {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, 0);
  return boxes.map(({ x, y, width, height }) => {
    const { data } = context.getImageData(x, y, Math.max(1, width), Math.max(1, height));
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum += 0.2126 * data[i]! + 0.7152 * data[i + 1]! + 0.0722 * data[i + 2]!;
    return sum / (data.length / 4);
  });
}
