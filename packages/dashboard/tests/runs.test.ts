// The Runs page in a real Chromium, over a real server with real runs. Did anything happen twice? Nobody can overlook it.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, type WatchedPage } from "./browser.ts";
import { define, openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;

beforeAll(async () => {
  world = await openWorld();
  story = await tellStory(world);
  // The radar looks at what was accepted a moment later.
  await vi.waitUntil(async () => (await world.api("/api/totals")).slipped === 8, { timeout: 30_000 });
});

afterAll(() => world?.close());

// A page rests ten times as long as its last reading took: on a machine that does other things that is several seconds.
const patience = { timeout: 20_000 };
const promised = { timeout: 5_000 };
const loud = ".row.is-loud";

async function open(path: string, look = looks[0]!, at = world.origin): Promise<WatchedPage> {
  const page = await visit(`${at}${path}`, look);
  await page.locator(".headline h2").waitFor({ timeout: 15_000 });
  await page.locator(".row").first().waitFor({ timeout: 15_000 });
  return page;
}

const texts = (page: Page, selector: string) => page.locator(selector).allInnerTexts();
const asked = (page: Page) => new URL(page.url()).searchParams;
const keysShown = (page: Page) => texts(page, ".groups .row .key .value");
const focusedKey = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest(".row")?.querySelector(".value")?.textContent ?? null);

test("a second run for one placement is on screen as ×2 within 5 s, without a reload", async () => {
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
  await page.locator(`${loud} .block`).waitFor(promised);

  expect(await texts(page, `${loud} .block`)).toEqual(["×2"]);
  expect(await page.locator(`${loud} .ran`).innerText()).toMatch(/^ran twice, .+ apart$/);
  expect(await texts(page, `${loud} .output`)).toEqual(["in_evt_1", "in_evt_2"]);
  await page.getByRole("heading", { name: "1 key ran more than once in the last 7 days" }).waitFor(patience);
  expect(await page.locator(".headline").innerText()).toContain(`${fn}, which has no key`);
  expect(await page.evaluate(() => (window as any).isSamePage)).toBe(true);
  expect(page.troubles).toEqual([]);
  await own.close();
});

test("the headline, the numbers and the pinned keys say the same, and the numbers add up", async () => {
  const page = await open("/runs");
  await page.getByRole("heading", { name: "8 keys ran more than once in the last 7 days" }).waitFor(patience);
  const [all, first, suppressed, slipped] = (await texts(page, ".summary .figure")).map(Number);
  expect(all).toBe(first! + suppressed! + slipped!);
  expect(slipped).toBe(8);
  expect(await page.locator(`${loud} .block`).count()).toBe(3);
  expect(await texts(page, ".heading")).toEqual([
    expect.stringContaining("8 keys"),
    expect.stringContaining("5 duplicates suppressed"),
  ]);

  await page.getByRole("link", { name: "Show all 8" }).click();
  await expect.poll(() => page.locator(`${loud} .block`).count()).toBe(8);
  expect(asked(page).get("show")).toBe("doubled");

  await page.locator(".summary").getByRole("link", { name: "Suppressed" }).click();
  await expect.poll(() => keysShown(page)).toEqual(["90417", "pi_3RPpX0c", "pi_3RPq7Lm"]);
  expect(page.troubles).toEqual([]);
});

test("a key that ran 20 times is in the numbers at once, lists all of its 120 askers, and c compares its first two runs", async () => {
  const own = await openWorld();
  const fn = await define(
    own,
    { id: "bill", idempotency: "event.data.order" },
    { event: "order/paid" },
    ({ event }) => ({
      billed: event.data.order,
    }),
  );
  const { store } = await own.server.world.engine("default");
  const runs: string[] = [];
  for (let i = 0; i < 20; i++) {
    if (i > 0)
      await store.release({ env: "default", scope: `fn:${fn}`, key: "7", fence: null, reason: "a person asked" });
    const { decisions } = await own.send(
      ...Array.from({ length: 6 }, () => ({ name: "order/paid", data: { order: 7 } })),
    );
    runs.push(decisions[0]!.runId!);
    await own.reached(runs.at(-1)!, "completed");
  }
  const page = await open("/runs", looks[0]!, own.origin);
  // Nobody counted or paired anything yet.
  expect(await page.locator(".headline h2").innerText()).toBe("1 key ran more than once in the last 7 days");
  expect((await texts(page, ".summary .figure")).map(Number)).toEqual([120, 1, 100, 19]);
  await page.getByRole("button", { name: "and 17 more" }).click();
  await expect.poll(() => page.locator(".group-panel li").count()).toBe(100);
  await page.getByRole("button", { name: "Show more of those who asked: 20 are left" }).click();
  await expect.poll(() => page.locator(".group-panel li").count()).toBe(120);
  expect(await page.locator(".group-panel li.is-slipped").count()).toBe(19);
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${runs[0]}/compare/${runs[1]}`);
  expect(page.troubles).toEqual([]);
  await own.close();
});

test("a group opens in place with everybody who asked, and the later run can be cancelled there", async () => {
  const page = await open(`/runs?show=doubled`);
  const row = page.locator(loud, { hasText: "48212" });
  await row.locator(".row-link").click();
  const panel = page.getByRole("region", { name: "Who asked for placementId 48212" });
  await panel.getByText("slipped through").waitFor(patience);
  expect(await texts(page, ".group-panel .place")).toEqual(["first run", "slipped through"]);
  const opened = asked(page).get("open");
  const other = await open(`/runs?show=doubled&open=${opened}`);
  await other.locator(".group-panel .place").first().waitFor(patience);

  await panel.getByRole("button", { name: "Cancel the later run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the later run" }).click();
  await page.getByText("Cancelled 1 run.").waitFor(patience);
  await expect
    .poll(() => row.locator(".run-line .state-icon .spoken").allTextContents())
    .toEqual(["waiting", "cancelled"]);
  await page.keyboard.press("Escape");
  await expect.poll(() => asked(page).get("open")).toBeNull();
  expect(page.troubles).toEqual([]);
});

test("duplicates of a key are rings beside its first run, each with its own line when opened", async () => {
  const page = await open("/runs");
  const row = page.locator(".row", { hasText: "pi_3RPq7Lm" });
  await row.getByRole("button", { name: /first run, 3 duplicates suppressed/ }).click();
  await expect
    .poll(() => texts(page, ".group-panel .place"))
    .toEqual(["first run", "suppressed", "suppressed", "suppressed"]);
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

test("an expression narrows by event and output; a mistake in it is said under the field and the rows stay", async () => {
  const page = await open("/runs?order=newest");
  const field = page.getByRole("combobox", { name: /Filter by text/ });
  await field.fill("event.data.amount > 100000");
  await expect.poll(() => keysShown(page)).toEqual(["pi_3RPq7Lm"]);
  expect(asked(page).get("cel")).toBe("event.data.amount > 100000");
  await field.fill("event.data.amount > > 1");
  await page.locator(".mistake").waitFor(patience);
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await keysShown(page)).toEqual(["pi_3RPq7Lm"]);
  await field.fill("nothing has this text");
  await page.getByText("No run matches", { exact: true }).waitFor(patience);
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect.poll(async () => (await keysShown(page)).length).toBeGreaterThan(10);
});

test("a list that found nothing yet says back to when it looked, and looks further only when it is asked", async () => {
  const page = await open("/runs?order=newest");
  const further: string[] = [];
  // As if there were a million runs, and what is looked for stood among the old ones.
  await page.route(/\/api\/groups\?.*q=pi_3RPq7Lm/, async (route) => {
    const before = new URL(route.request().url()).searchParams.get("before");
    if (before !== null) further.push(before);
    const answer =
      before === null
        ? route.request().url()
        : route
            .request()
            .url()
            .replace(/&before=[^&]*/, "");
    const body = await (await fetch(answer)).json();
    const cut = { groups: [], next: "further", isPartial: true, lookedBackTo: Date.UTC(2026, 4, 12, 10) };
    await route.fulfill({ json: before === null ? { ...body, ...cut } : body });
  });
  await page.getByRole("combobox", { name: /Filter by text/ }).fill("pi_3RPq7Lm");
  await page.getByText(/^None so far\. Looked back to 12 May.*12:00/).waitFor(patience);
  expect(further).toEqual([]);
  await page.getByRole("button", { name: "Look further back" }).click();
  await expect.poll(() => keysShown(page)).toEqual(["pi_3RPq7Lm"]);
  expect(further).toEqual(["further"]);
});

test("grouped by function, by event and by nothing at a key press, doubled ones stay marked", async () => {
  const page = await open("/runs");
  await page.keyboard.press("2");
  await page.locator(".by-function .is-loud", { hasText: story.drafts }).waitFor(patience);
  await page.keyboard.press("3");
  await page.locator(".by-event .row", { hasText: "duplicate key of" }).first().waitFor(patience);
  await page.keyboard.press("4");
  await page.locator(`.by-run ${loud}`, { hasText: "2 of 2" }).first().waitFor(patience);
  expect(asked(page).get("group")).toBe("none");
  await page.keyboard.press("1");
  await page.locator(`.groups ${loud}`).first().waitFor(patience);
  expect(page.troubles).toEqual([]);
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

test("while somebody reads, new keys wait behind a button", async () => {
  const page = await open("/runs?order=newest");
  await page.locator(".row-link").first().focus();
  const before = await keysShown(page);
  for (const payment of ["pi_new_1", "pi_new_2"])
    await world.send({ name: "stripe/payment.succeeded", data: { payment, amount: 100 } });
  const held = page.getByRole("button", { name: "2 new keys" });
  await held.waitFor(patience);
  expect(await keysShown(page)).toEqual(before);
  await held.click();
  await expect.poll(async () => (await keysShown(page)).slice(0, 2)).toEqual(["pi_new_2", "pi_new_1"]);
});

test("an empty store says what to do", async () => {
  const own = await openWorld();
  const page = await visit(`${own.origin}/runs`);
  await page.getByText("Nothing has run yet").waitFor({ timeout: 15_000 });
  await page.getByText("await idem.send(").waitFor(patience);
  expect(await axeFindings(page)).toEqual([]);
  await own.close();
});

test.each(looks)("axe finds nothing, and nothing reaches over the edge: $width px, $theme", async (look) => {
  const page = await open("/runs", look);
  await page.locator(`${loud} .block`).first().waitFor(patience);
  await page.locator(`${loud} .row-link`).first().click();
  await page.locator(".group-panel .place").first().waitFor(patience);
  expect(await axeFindings(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  // The other groupings once: their colours and parts are those of this one.
  for (const group of look === looks[1] ? ["function", "none"] : []) {
    await page.goto(`${world.origin}/runs?group=${group}`);
    await page.locator(".row").first().waitFor(patience);
    expect(await axeFindings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(page.troubles).toEqual([]);
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

test("keys of strangers are text: markup, directions and control characters change nothing around them", async () => {
  const fn = await define(world, { id: "echo", idempotency: "event.data.key" }, { event: "a/b" }, ({ event }) => ({
    said: event.data.key,
  }));
  const keys = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "\u202Egnp.exe\u0000\u0007",
    "x".repeat(1_500),
    "{{constructor}}",
  ];
  for (const key of keys) {
    const { decisions } = await world.send({ name: "a/b", data: { key } });
    await world.reached(decisions[0]!.runId!, "completed");
  }
  for (const look of looks.slice(0, 2)) {
    const page = await open(`/runs?fn=${fn}`, look);
    const shown = await keysShown(page);
    expect(shown).toHaveLength(keys.length);
    expect(shown).toContain("<script>window.hacked=1</script>");
    expect(shown).toContain("‹U+202E›gnp.exe␀␇");
    expect(await page.evaluate(() => (window as any).hacked)).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await scrollsSideways(page)).toBe(false);
    expect(page.troubles).toEqual([]);
  }
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

test("runs stand in the order of how long they took, with the columns that were chosen, and a view brings both back for everyone", async () => {
  const page = await open("/runs?group=none&state=completed");
  await page.getByLabel("Order").selectOption("longest first");
  await page.locator(".row .of-took").first().waitFor(patience);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Ended" }).check();
  await page.getByRole("checkbox", { name: "Function" }).uncheck();
  await page.keyboard.press("Escape");
  expect(await texts(page, ".list .head > span")).toEqual(["Run", "Key", "Took", "Ended", "State, start and output"]);
  const shown = await page
    .locator(".list .row .row-link")
    .evaluateAll((all) => all.map((each) => each.getAttribute("href")!.split("/").at(-1)));
  const took = new Map<string, number>();
  for (const { runs } of (await world.api("/api/groups?group=none&state=completed")).groups)
    took.set(runs[0].id, runs[0].endedAt - runs[0].startedAt);
  const lengths = shown.map((id) => took.get(id!)!);
  expect(lengths.length).toBeGreaterThan(4);
  expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));

  await page.getByRole("button", { name: "Views" }).click();
  await page.getByLabel("Save what is shown as").fill("Slow ones");
  await page.getByRole("button", { name: "Save the view" }).click();
  await page.getByRole("button", { name: "View: Slow ones" }).waitFor(patience);
  const [entry] = (await world.api("/api/audit?subject=view:Slow%20ones")).entries;
  expect(entry).toMatchObject({ action: "change-setting", actor: "dev" });
  const other = await open("/runs");
  await other.getByRole("button", { name: "Views" }).click();
  await other.getByRole("link", { name: "Slow ones" }).click();
  await expect
    .poll(() => texts(other, ".list .head > span"))
    .toEqual(["Run", "Key", "Took", "Ended", "State, start and output"]);
  expect(other.url()).toBe(page.url());
  await other.getByRole("button", { name: "View: Slow ones" }).click();
  await other.getByRole("button", { name: "Remove the view Slow ones" }).click();
  await expect.poll(async () => (await world.api("/api/views")).views).toEqual([]);
});

test("a link that is shared is about the time that was seen, whenever it is opened", async () => {
  const page = await open("/runs?since=24h&group=none");
  const before = Date.now();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("Its time is pinned").waitFor(patience);
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  const [since, until] = ["since", "until"].map((name) => Date.parse(link.searchParams.get(name)!));
  expect(until! - since!).toBe(86_400_000);
  expect(until).toBeGreaterThanOrEqual(before);
  expect(link.searchParams.get("group")).toBe("none");
  const shown = await page.locator(".row .row-link").count();
  await world.send({ name: "agency/week.ended", data: { week: 21 } });
  const opened = await open(link.pathname + link.search);
  expect(await opened.locator(".row .row-link").count()).toBe(shown);
});
