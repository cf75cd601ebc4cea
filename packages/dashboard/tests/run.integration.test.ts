// The Run and Compare pages in a real browser, against a real server with real runs.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, type WatchedPage } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
/** Placement 48213, twice. */
let first: string;
let second: string;
let paid: string;
let hostile: string;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const script = `<script>window.broken = 1</script><img src=x onerror="window.broken = 2">`;
const turned = "\u202Etxt.exe";

async function placements(): Promise<void> {
  let invoices = 0;
  const failed = new Set<string>();
  const options = { id: "draft-invoice-from-placement", backoff: () => 400 };
  await define(world, options, { event: "bullhorn/placement.event" }, async ({ event, step, runId }) => {
    const placement = await step.run("fetch-placement", async () => {
      await pause(30);
      if (!failed.has(runId)) {
        failed.add(runId);
        throw new Error("Bullhorn answered 503");
      }
      return { id: event.data.placementId, amountCents: 428_000 };
    });
    await Promise.all([
      step.run("load-markup-table", async () => {
        await pause(60);
        return { markup: 0.21 };
      }),
      step.run("load-holidays", async () => {
        await pause(90);
        return ["2026-05-14"];
      }),
    ]);
    const entity = `placement-${placement.id}`;
    await step.effect("create-stripe-draft", { destination: "stripe", entity }, async () => {
      await pause(120);
      return { id: `in_1RPq8x${++invoices}`, status: "draft", total: placement.amountCents };
    });
    await step.waitForEvent("wait-for-approval", { event: "invoice/approved", timeout: "5d" });
    return { approved: true };
  });
}

async function payments(): Promise<void> {
  await define(
    world,
    { id: "pay", idempotency: "event.data.order", retries: 0 },
    { event: "order/paid" },
    async ({ event, step }) => {
      const price = await step.run("price", () => event.data.price);
      return step.run("charge", (amount: number) => ({ charged: amount }), price);
    },
  );
}

async function hostiles(): Promise<void> {
  let deep: unknown = "bottom";
  // As deep as a step may keep.
  for (let i = 0; i < 60; i++) deep = { deeper: deep };
  await define(world, { id: "hostile", retries: 0 }, { event: "hostile/sent" }, async ({ step }) => {
    await step.run(script, () => ({ html: script, turned, deep, big: "9007199254740993" }));
    // As large as a step may keep: 4 MiB with its quotes.
    await step.run("as-large-as-may-be", () => "x".repeat(4 * 1024 * 1024 - 2));
    await step.run(`name ${turned}`, () => {
      throw new Error(`${script}${turned}\u0007`);
    });
  });
}

/** Behind the retry, where it waits for a person. */
async function approvable(runId: string): Promise<void> {
  const last = async () => (await world.api(`/api/runs/${runId}`)).run.timeline.at(-1)?.name;
  await vi.waitFor(async () => expect(await last()).toBe("wait-for-approval"), { timeout: 60_000, interval: 100 });
}

const runOf = async (name: string, data: unknown): Promise<string> =>
  (await world.send({ name, data })).decisions[0]!.runId!;
const open = (path: string, look = looks[0]!): Promise<WatchedPage> => visit(`${world.origin}${path}`, look);

beforeAll(async () => {
  world = await openWorld();
  await Promise.all([placements(), payments(), hostiles()]);
  // Several placements, twice each: the radar's guess needs more than one to see what they are about.
  const placement = (placementId: number, eventType: string) =>
    runOf("bullhorn/placement.event", { placementId, eventType, clientId: 118, rate: 92.5 });
  first = await placement(48_213, "INSERTED");
  second = await placement(48_213, "UPDATED");
  const others = [await placement(48_212, "INSERTED"), await placement(48_212, "UPDATED")];
  paid = await runOf("order/paid", { order: 7, price: 10 });
  hostile = await runOf("hostile/sent", {});
  await Promise.all([first, second, ...others].map(approvable));
  await world.reached(paid, "completed");
  await world.reached(hostile, "failed");
});

afterAll(() => world?.close());

describe("one run", () => {
  test("a step, its tab, the zoom and the table stand in the address", async () => {
    const one = await open(`/runs/${first}`);
    await one.getByRole("link", { name: "fetch-placement" }).click();
    await one.getByRole("link", { name: "Attempts 2" }).click();
    await one.getByText("Bullhorn answered 503").waitFor();
    await one.getByRole("link", { name: "Outcome" }).click();
    await one.getByRole("button", { name: "Zoom to this step" }).click();
    await one.getByRole("button", { name: /show the whole run/ }).waitFor();
    const { searchParams } = new URL(one.url());
    expect(searchParams.get("step")).toBe("fetch-placement");
    // Sent to somebody else, it shows the same.
    const page = await visit(one.url());
    await page.getByRole("button", { name: /show the whole run/ }).waitFor();
    await page.keyboard.press("0");
    await page.keyboard.press("t");
    await page.getByRole("table", { name: "Steps" }).waitFor();
    expect(new URL(page.url()).searchParams.get("view")).toBe("table");
    // No word is broken inside: each stands on one line.
    const words = page.locator(".step-state, .facts dt, .run-facts a[download]");
    const heights = await words.evaluateAll((each) => each.map((one) => one.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThan(30);
    // The zoom is gone, the step is not.
    expect(new URL(page.url()).searchParams.get("from")).toBeNull();
    await page.getByRole("complementary", { name: "Step fetch-placement" }).waitFor();
    expect(page.troubles).toEqual([]);
  });

  test("it is rerun with the keyboard alone", async () => {
    const page = await open(`/runs/${paid}`);
    await page.getByRole("heading", { name: /pay/, level: 2 }).waitFor();
    await page.keyboard.press("r");
    await page.getByText("A new run starts, past the key, with the same destination keys").waitFor();
    await tabTo(page, "Start a new run");
    await page.keyboard.press("Enter");
    await page.getByText("A person asked for this run").waitFor();
    const rerun = new URL(page.url()).pathname.split("/").at(-1)!;
    expect(rerun).not.toBe(paid);
    const { run } = await world.api(`/api/runs/${rerun}`);
    expect(run.rerunOf).toBe(paid);
    // [ leads back to the run before it.
    await page.getByText("2 runs").waitFor();
    await page.keyboard.press("[");
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${paid}`);
  });

  test("closing a dialog without acting starts nothing and gives focus back", async () => {
    const page = await open(`/runs/${paid}`);
    const before = (await world.api(`/api/runs?limit=100`)).runs.length;
    const button = page.getByRole("button", { name: "Rerun", exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    expect((await world.api(`/api/runs?limit=100`)).runs).toHaveLength(before);
  });

  test("a run that waits goes on before one's eyes", async () => {
    const runId = await runOf("bullhorn/placement.event", { placementId: 2, eventType: "INSERTED" });
    await approvable(runId);
    const page = await open(`/runs/${runId}?step=load-holidays`);
    await page.getByText("waiting for approval").waitFor();
    // The page says what it waits for, and can send it.
    await page.getByRole("heading", { name: "Waits for event invoice/approved" }).waitFor();
    await page.getByRole("button", { name: "Send this event" }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Send the event" }).click();
    await page.getByRole("region", { name: "Output" }).waitFor({ timeout: 60_000 });
    // The selected step stays selected.
    await page.getByRole("complementary", { name: "Step load-holidays" }).waitFor();
  });

  test("of three hundred steps those in sight are drawn, what tells where one is stays, and the slow and the failed are a key away", async () => {
    const failed = new Set<number>();
    await define(world, { id: "index-shards", backoff: () => 1 }, { event: "tenant/reindex" }, async ({ step }) => {
      for (let i = 1; i <= 300; i++) {
        await step.run(`index-shard-${i}`, () => {
          if ((i !== 139 && i !== 266) || failed.has(i)) return { shard: i };
          failed.add(i);
          throw new Error("search answered 503");
        });
      }
      return { shards: 300 };
    });
    const runId = await runOf("tenant/reindex", {});
    await world.reached(runId, "completed");
    const page = await open(`/runs/${runId}`);
    const names = () => page.locator(".waterfall .row .name").allTextContents();
    await page.getByRole("button", { name: "index-shard × 300" }).waitFor();
    expect(await names()).toEqual(expect.arrayContaining(["index-shard-139", "index-shard-266"]));
    expect((await names()).length).toBeLessThan(60);
    await page.getByRole("button", { name: "All 300" }).click();
    await page.getByRole("link", { name: "index-shard-3", exact: true }).waitFor();
    const drawn = () => page.locator(".waterfall .row").count();
    expect(await drawn()).toBeLessThan(60);
    await page.evaluate(() => window.scrollTo(0, 6_000));
    await expect.poll(async () => (await names()).some((name) => name === "index-shard-140")).toBe(true);
    expect(await drawn()).toBeLessThan(60);
    // Filter, map and axis are under the top bar, the panel is beside them.
    const topOf = (selector: string) => page.locator(selector).evaluate((each) => each.getBoundingClientRect().top);
    expect(await topOf(".timeline .stick")).toBe(52);
    expect(await topOf(".step-panel")).toBe(64);
    // e leads from error to error, wherever they are.
    await page.keyboard.press("e");
    await page.getByRole("complementary", { name: "Step index-shard-139" }).waitFor();
    await page.keyboard.press("e");
    await page.getByRole("complementary", { name: "Step index-shard-266" }).waitFor();
    await page.getByRole("link", { name: "index-shard-266" }).waitFor();
    await page.keyboard.press("s");
    await page
      .getByRole("button", { name: /like these/ })
      .first()
      .waitFor();
    await page.getByRole("searchbox", { name: "Find a step" }).fill("shard-29");
    await expect.poll(async () => (await names()).length).toBe(11);
    // As a table they are drawn no more than as bars.
    await page.goto(`${world.origin}/runs/${runId}?steps=all&view=table`);
    await page.getByRole("table", { name: "Steps" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBeLessThan(60);
    expect(page.troubles).toEqual([]);
  });
});

describe("hostile payloads", () => {
  test("markup, the largest strings, deep JSON and turned text are text and nothing else", async () => {
    const page = await open(`/runs/${hostile}`);
    const broken = () => page.evaluate(() => (window as any).broken);
    // The failed step is what one comes for; its error is shown as it is.
    await page.locator(".error-view .said").first().waitFor();
    expect(await page.locator(".error-view .said").first().textContent()).toContain(`${script}‹U+202E›txt.exe␇`);
    await page.locator(".waterfall .name", { hasText: "<script>" }).click();
    const tree = page.locator(".step-panel .payload");
    await tree.getByText("9007199254740993").waitFor();
    expect(await tree.textContent()).toContain(script);
    expect(await tree.textContent()).toContain("‹U+202E›");
    await page.locator(".step-panel").getByRole("searchbox", { name: "Find in this payload" }).fill("9007199");
    await expect.poll(() => tree.locator(".name").allTextContents()).toEqual(["big"]);
    await page.getByRole("link", { name: "as-large-as-may-be" }).click();
    await page.locator(".step-panel").getByText("The first 64 KB of 4 MB").waitFor();
    expect((await page.locator(".step-panel pre").textContent())!.length).toBeLessThan(70_000);
    expect(await scrollsSideways(page)).toBe(false);
    expect(await page.locator("main script, main img").count()).toBe(0);
    expect(await broken()).toBeUndefined();
    expect(page.troubles).toEqual([]);
  });
});

describe("two runs side by side", () => {
  test("three sentences answer first; what differs is named, what had to differ is grey", async () => {
    const page = await open(`/runs/${first}/compare/${second}`);
    await page.getByRole("heading", { name: "1 field of the events differs" }).waitFor();
    await page.getByText("eventType: INSERTED, then UPDATED").waitFor();
    await page.getByRole("heading", { name: /outcomes? differs?/ }).waitFor();
    const differing = page.locator(".is-differing", { hasText: "data.eventType" });
    expect(await differing.locator("td").allTextContents()).toEqual(["INSERTED", "UPDATED"]);
    expect(await page.locator(".is-expected", { hasText: "event.id" }).count()).toBe(1);
    const made = page.locator("tbody", { hasText: "Step create-stripe-draft" }).locator(".is-differing th");
    expect(await made.allTextContents()).toEqual(["id", "destination key"]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export Markdown" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`compare-${second}.md`);
    const [table] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    expect(table.suggestedFilename()).toBe(`compare-${second}.csv`);
    expect(page.troubles).toEqual([]);
  });
});

/** Presses Tab until the button has focus. */
async function tabTo(page: WatchedPage, name: string): Promise<void> {
  for (let i = 0; i < 20; i++) {
    if ((await page.evaluate(() => document.activeElement?.textContent)) === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never came to "${name}"`);
}
