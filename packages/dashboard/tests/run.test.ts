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
  await vi.waitFor(async () => expect(await last()).toBe("wait-for-approval"), { timeout: 30_000, interval: 100 });
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
  test("what the app says about it stands under its output, what it says about a step beside that step", async () => {
    const engine = await world.server.world.engine("default");
    const { stepId } = (await world.api(`/api/runs/${paid}`)).run.timeline.at(-1);
    const said = (stepId: string, kind: string, value: object) =>
      ({ stepId, kind, op: "set", value: JSON.stringify(value) }) as const;
    await engine.store.annotate({
      env: "default",
      runId: paid,
      changes: [
        said("", "inngest.score", { helpful: { value: 0.5 } }),
        said("", "userland.customer", { name: `ada ${script}` }),
        said(stepId, "inngest.ai", { model: "small", input_tokens: 812 }),
      ],
    });
    const page = await open(`/runs/${paid}?step=charge`);
    const card = page.getByRole("region", { name: "Metadata" });
    await expect.poll(() => card.locator("h3").allTextContents()).toEqual(["Scores", "customer"]);
    expect(await card.locator("dd").allTextContents()).toEqual(["0.5", `ada ${script}`]);
    const panel = page.locator(".step-panel .metadata-kind");
    expect(await panel.locator("dt").allTextContents()).toEqual(["model", "input_tokens"]);
    expect(await page.evaluate(() => (window as { broken?: number }).broken)).toBeUndefined();
  });

  test("the second run for a placement says so before anything else, and what it sent under which key", async () => {
    const page = await open(`/runs/${second}`);
    await page.getByText("This is the second run for placementId 48213").waitFor();
    await expect
      .poll(() => page.locator("h1").textContent())
      .toBe("agency-draft-invoice-from-placement · 48213, run 2 of 2");
    // The browser's tab says which run it is.
    expect(await page.title()).toMatch(
      /agency-draft-invoice-from-placement, placementId 48213, run 2 of 2, waiting · Idem$/,
    );
    // Steps planned together share a bracket, in the order in which the app began them: nobody promises which is first.
    const together = await page.locator(".waterfall .in-bracket .name").allTextContents();
    expect([...together].sort()).toEqual(["load-holidays", "load-markup-table"]);
    const names = await page.locator(".waterfall .row .name").allTextContents();
    expect(names).toEqual(["queued", "fetch-placement", ...together, "create-stripe-draft", "wait-for-approval"]);
    // A pause says why it is there.
    expect(await page.locator(".waterfall .pause-words").first().textContent()).toContain("503, again in");
    const panel = page.getByRole("complementary", { name: "Step create-stripe-draft" });
    await panel.getByText("Another destination key than the other run's.").waitFor();
    await panel.getByText(/It made in_1RPq8x\d in 1 try/).waitFor();
    expect(await panel.locator(".payload").textContent()).toContain("428000");
    // Both runs wait, and what they made stands under each other: two ids are two invoices.
    const made = await page.getByRole("region", { name: "Runs of this key" }).locator(".preview").allTextContents();
    expect(made.map((words) => words.replace(/\d+$/, "n"))).toEqual(
      Array(2).fill("So far, by step create-stripe-draft: in_1RPq8xn"),
    );
    expect(new Set(made).size).toBe(2);
    // A value of the input leads to the runs that have the same.
    const input = page.getByRole("region", { name: "Input" });
    expect(
      await input.getByRole("link", { name: "Runs where event.data.placementId == 48213" }).getAttribute("href"),
    ).toBe("/runs?cel=event.data.placementId+%3D%3D+48213");
    await input.getByRole("button", { name: "Raw" }).click();
    expect(await input.locator("pre").textContent()).toBe(
      '{"placementId":48213,"eventType":"UPDATED","clientId":118,"rate":92.5}',
    );
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      input.getByRole("link", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^event-.*\.json$/);
    await panel.getByRole("link", { name: "Input" }).click();
    await panel.getByText("It was asked for this.").waitFor();
    await expect.poll(() => panel.locator(".payload").textContent()).toContain("placement-48213");
    expect(page.troubles).toEqual([]);
  });

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

  test("it is rerun from a step with other arguments, once what differs is shown", async () => {
    const page = await open(`/runs/${paid}?step=charge`);
    await page.getByRole("button", { name: "Rerun from here" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Others" }).click();
    // The editor begins with what the step was called with.
    expect(JSON.parse(await dialog.getByRole("textbox").inputValue())).toEqual([10]);
    const start = dialog.getByRole("button", { name: "Start a new run from here" });
    expect(await start.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("{ 4280 }");
    await dialog.getByText("This is no JSON yet").waitFor();
    expect(await start.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("[4280]");
    await dialog.getByText("2 differences").or(dialog.getByText("1 difference")).waitFor();
    await start.click();
    await page.getByText("A person asked for this run").waitFor();
    const rerun = new URL(page.url()).pathname.split("/").at(-1)!;
    await world.reached(rerun, "completed");
    const { run } = await world.api(`/api/runs/${rerun}`);
    expect(run).toMatchObject({ rerunOf: paid, rerunFrom: { name: "charge" }, output: { value: { charged: 4280 } } });
  });

  test("it is rerun with other data, once what differs and what becomes of keys is said; data about another thing is not", async () => {
    const page = await open(`/runs/${paid}`);
    await page.getByRole("region", { name: "Input" }).getByRole("button", { name: "Rerun with another" }).click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("textbox");
    expect(JSON.parse(await field.inputValue())).toEqual({ order: 7, price: 10 });
    const start = dialog.getByRole("button", { name: "Start a new run with this data" });
    expect(await start.isDisabled()).toBe(true);
    await field.fill('{"order":8,"price":10}');
    await dialog.getByText("This data is about something else: it gives key 8, the run has key 7.").waitFor();
    expect(await start.isDisabled()).toBe(true);
    await field.fill('{"order":7,"price":11}');
    await dialog.getByText("The data gives the same key, 7.").waitFor();
    await dialog.getByText(/2 steps hand on the same destination keys as the first time/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await start.click();
    await page.getByText("with other data than its event has").waitFor();
    const rerun = new URL(page.url()).pathname.split("/").at(-1)!;
    await world.reached(rerun, "completed");
    const { run } = await world.api(`/api/runs/${rerun}`);
    expect(run).toMatchObject({ rerunOf: paid, key: "7", output: { value: { charged: 11 } } });
    const { entries } = await world.api("/api/audit?action=rerun-run");
    expect(entries[0]).toMatchObject({ subject: paid, reason: `with other data, as ${rerun}` });
    // Any two runs can be put beside each other: by the list, or by an id.
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByLabel("Or with any run, by its id").fill("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    await page.getByRole("button", { name: "Compare the two" }).last().click();
    await page.getByText(/There is no run 01ARZ3/).waitFor();
    await page.getByLabel("Or with any run, by its id").fill(second);
    await page.getByRole("button", { name: "Compare the two" }).last().click();
    await page.locator(".differences").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/runs/${rerun}/compare/${second}`);
    expect(await page.title()).toMatch(
      /^(\(\d+\) )?Compare .* of agency-pay and agency-draft-invoice-from-placement · Idem$/,
    );
    expect(page.troubles).toEqual([]);
  });

  test("it is cancelled after the page said what stays", async () => {
    const runId = await runOf("bullhorn/placement.event", { placementId: 1, eventType: "INSERTED" });
    await approvable(runId);
    const page = await open(`/runs/${runId}`);
    await page
      .getByText(/to stripe/)
      .first()
      .waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page
      .getByText(
        /Steps that finished stay finished\. What create-stripe-draft made at stripe, in_1RPq8x\d+, is not deleted\./,
      )
      .waitFor();
    await page.getByLabel("Reason (optional)").fill("nobody wanted it");
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("Why it was cancelled").waitFor();
    await page.getByRole("region", { name: "Error" }).getByText("nobody wanted it", { exact: true }).waitFor();
    expect((await world.api(`/api/runs/${runId}`)).run.state).toBe("cancelled");
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
    await page.getByRole("region", { name: "Output" }).waitFor({ timeout: 15_000 });
    // The selected step stays selected.
    await page.getByRole("complementary", { name: "Step load-holidays" }).waitFor();
  });

  test("a run that a step invoked stands under its step, and many steps at once are one line", async () => {
    await define(world, { id: "child" }, { event: "child/never" }, async ({ step }) =>
      step.waitForEvent("wait-for-nothing", { event: "nothing/came", timeout: "5d" }),
    );
    await define(world, { id: "parent", retries: 0 }, { event: "parent/asked" }, async ({ step }) => {
      const page = (i: number) => async () => {
        await pause(50);
        if (i === 7) throw new Error("Page 7 is gone");
        return i;
      };
      await Promise.all(Array.from({ length: 20 }, (_, i) => step.run(`load-page-${i}`, page(i)).catch(() => null)));
      return step.invoke("ask-child", { function: "agency-child" });
    });
    const runId = await runOf("parent/asked", {});
    await vi.waitFor(
      async () => expect((await world.api(`/api/runs/${runId}`)).run.timeline.at(-1)?.childRunId).toBeTruthy(),
      { timeout: 30_000, interval: 100 },
    );
    const page = await open(`/runs/${runId}`);
    await page.locator(".invoked").getByText("wait-for-nothing").waitFor();
    // Parent and child know each other.
    const fact = (name: string) => page.locator(".facts > div", { hasText: name }).locator("dd").textContent();
    expect(await fact("Children")).toBe("agency-child, waiting");
    expect(await fact("Code")).toMatch(/, as it is now$/);
    const [history] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "download", exact: true }).click(),
    ]);
    expect(history.suggestedFilename()).toBe(`run-${runId}.json`);
    const names = () => page.locator(".waterfall > .row > .label .name").allTextContents();
    expect(await names()).toEqual([
      "queued",
      "load-page × 20",
      "7 like these, 0 to 6",
      "load-page-7",
      "12 like these, 8 to 19",
      "ask-child",
    ]);
    // The line of all twenty shows the one that failed.
    const series = page.locator(".waterfall .is-series");
    expect(await series.locator(".sum").textContent()).toMatch(/^19 completed.*1 failed/);
    expect(await series.locator(".bar.is-error").count()).toBe(1);
    // Arrows open and close a fold.
    await page.getByRole("button", { name: "7 like these" }).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(async () => (await names()).length).toBe(13);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => (await names()).length).toBe(6);
    expect(page.troubles).toEqual([]);
    // Once both are over it still stands there, and the step leads to it.
    await world.send({ name: "nothing/came" });
    await page.getByRole("region", { name: "Output" }).waitFor({ timeout: 15_000 });
    await page.locator(".invoked").getByText("wait-for-nothing").waitFor();
    await page.goto(`${world.origin}/runs/${runId}?step=ask-child`);
    await page.getByRole("complementary", { name: "Step ask-child" }).getByText("Invoked run").waitFor();
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

  test("an id that nobody knows says so", async () => {
    const page = await open("/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    await page.getByText("No run with this id").waitFor();
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

describe.each(looks)("at $width px, $theme", (look) => {
  test("axe finds nothing on a run and on a comparison, and nothing reaches over the edge", async () => {
    const page = await open(`/runs/${second}?step=create-stripe-draft`, look);
    await page.locator(".step-panel .payload").waitFor();
    await page.locator(".runs-of-key").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole("link", { name: "Compare the two" }).click();
    await page.locator(".differences").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
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
