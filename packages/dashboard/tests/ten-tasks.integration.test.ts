// Ten things that people come for, each in at most three clicks from where they would begin, in a real browser over a real server.
import { gzipSync } from "node:zlib";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { visit, type WatchedPage } from "./browser.ts";
import { define, openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;
let logged: string;
let render: string;

beforeAll(async () => {
  world = await openWorld();
  story = await tellStory(world, { placements: 2 });
  await define(world, { id: "say-hello" }, { event: "hello/said" }, ({ step, logger }) =>
    step.run("greet", () => {
      logger.info("hello to ann");
      return "greeted";
    }),
  );
  render = await define(world, { id: "render", concurrency: 1 }, { event: "render/asked" }, ({ step }) =>
    step.run("draw", () => new Promise(() => {})),
  );
  logged = (await world.send({ name: "hello/said", data: { ticket: "T-9920" } })).decisions[0]!.runId!;
  for (let i = 0; i < 4; i++) await world.send({ name: "render/asked", data: { i } });
  await world.reached(logged, "completed");
  // The radar looks at what was accepted a moment later.
  await vi.waitUntil(async () => (await world.api("/api/totals")).slipped === 2, { timeout: 60_000 });
});

afterAll(() => world?.close());

/** Begins at a page and counts the clicks; a choice in a list is one as well. */
async function begin(path: string) {
  const page: WatchedPage = await visit(`${world.origin}${path}`);
  let clicks = 0;
  const found = (what: string | Locator): Locator =>
    typeof what === "string" ? page.locator(what).first() : what.first();
  return {
    page,
    click: async (what: string | Locator) => {
      clicks++;
      await found(what).click();
    },
    choose: async (label: string, option: string) => {
      clicks++;
      await page.getByLabel(label, { exact: true }).selectOption(option);
    },
    says: (text: string | RegExp) => expect.poll(() => page.locator("body").innerText()).toMatch(text),
    done: (most = 3) => {
      expect(page.troubles).toEqual([]);
      expect(clicks).toBeLessThanOrEqual(most);
    },
  };
}

test("why did an event do nothing", async () => {
  const { page, click, choose, says, done } = await begin("/");
  await click(page.getByRole("link", { name: "Events", exact: true }));
  await choose("Became", "no function listens");
  await click(page.getByRole("link", { name: "agency/nobody.listens" }));
  await says(/No function (listens|has)|no function (listens|has)/);
  done();
});

test("rerun all failed runs of one function in the last hour", async () => {
  const { page, click, says, done } = await begin("/?range=1h");
  await click(page.getByRole("link", { name: "See it", exact: true }));
  await says("1 run failed");
  await click(page.getByRole("button", { name: "Select all that match" }));
  await click(page.getByRole("button", { name: /^Rerun/ }));
  await expect.poll(() => page.getByRole("dialog").innerText()).toMatch(/1 run will run again|1 will run again/);
  done();
});

test("what ran twice, and the line that mends it", async () => {
  const { page, click, says, done } = await begin("/");
  await click(page.getByRole("link", { name: "Runs", exact: true }));
  await says("2 keys ran more than once");
  await click(page.getByRole("link", { name: "Add the key" }));
  await says(/idempotency: "event\.data\.placementId"/);
  done();
});

test("send a test event", async () => {
  const { page, click, says, done } = await begin("/");
  await click(page.getByRole("link", { name: "Events", exact: true }));
  await click(page.getByRole("link", { name: "Send a test event" }));
  await page.getByLabel("Name", { exact: true }).fill("hello/said");
  await click(page.getByRole("button", { name: "Send", exact: true }));
  await says(/started/);
  done();
});

test("how far behind is one function", async () => {
  const { page, click, says, done } = await begin("/");
  const row = page.getByRole("row").filter({ hasText: "render" });
  await click(
    row
      .getByRole("link", { name: /behind concurrency|concurrency 1/ })
      .or(row.getByRole("link", { name: "3", exact: true })),
  );
  await says(/3 (in line|runs stand in line)/);
  done(1);
  expect(page.url()).toContain(encodeURIComponent(render));
});

test("find a run by a field of its data", async () => {
  const { page, click, done } = await begin("/");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("T-9920");
  // What is found comes bit by bit, and moves the options that are there: one that is clicked meanwhile may be another.
  await page.getByRole("option").filter({ hasText: "data.ticket" }).waitFor();
  await page.locator('[role=listbox][aria-busy="false"]').waitFor();
  await click(page.getByRole("option").filter({ hasText: "data.ticket" }));
  await expect.poll(() => page.url()).toContain("cel=");
  // The page before stays until the next one is loaded.
  await page.getByRole("heading", { name: "Runs", exact: true, level: 1 }).waitFor();
  await click(".list .row .row-link, .groups .row .row-link, .row .at");
  await expect.poll(() => page.url()).toContain(logged);
  done();
});

test("what a step said", async () => {
  const { page, click, says, done } = await begin(`/runs?group=none&fn=agency-say-hello`);
  await click(".list .row .row-link");
  await click(page.getByRole("navigation", { name: "About the step" }).getByRole("link", { name: /Logs/ }));
  await says("hello to ann");
  done();
});

test("share what is seen", async () => {
  const { page, click, done } = await begin("/runs?state=failed&group=none");
  await click(page.getByRole("button", { name: "Copy link" }));
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/since=\d{4}-.*&until=\d{4}-|until=\d{4}-/);
  done(1);
});

test("functions that have no key and no reason for it", async () => {
  const { page, click, done } = await begin("/");
  const line = page.getByRole("listitem").filter({ hasText: "Functions without a key or a reason" });
  const count = Number(await line.getByRole("link").innerText());
  await click(line.getByRole("link"));
  await page.getByRole("heading", { name: "Functions", level: 1 }).waitFor();
  await expect.poll(() => page.locator("table tbody tr").count()).toBe(count);
  expect(await page.locator("main").innerText()).not.toContain(story.payments.replace("agency-", ""));
  done(1);
});

test("how the last day went", async () => {
  const { page, says, done } = await begin("/");
  await says(/\d+ runs ended since yesterday/);
  const row = page.getByRole("row").filter({ hasText: "send-placement-welcome" });
  expect(await row.innerText()).toMatch(/4\s+1\s+/);
  done(0);
});

test("the first view takes at most 180 KB, compressed", async () => {
  const { page, says } = await begin("/");
  await says(/\d+ runs ended since yesterday/);
  const files = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => name)
      .filter((name) => /\/assets\//.test(name)),
  );
  const texts = await Promise.all(
    [`${world.origin}/`, ...new Set(files)].map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
  );
  expect(texts.length).toBeGreaterThan(5);
  expect(texts.reduce((sum, text) => sum + gzipSync(text).byteLength, 0)).toBeLessThanOrEqual(180 * 1024);
});
