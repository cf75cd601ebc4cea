// The pages Functions, one function and Apps, in a real browser over a real server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectSoundPages } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { define, openWorld, type Story, tellStory, type World } from "./world.ts";

let world: World;
let story: Story;
let report: string;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  story = await tellStory(world, { placements: 3 });
  report = await define(
    world,
    { id: "nightly-report", concurrency: { limit: 5 } },
    { cron: "TZ=Europe/Amsterdam 0 3 * * *" },
    () => null,
  );
});
afterAll(() => world?.close());

const open = (path: string) => visit(`${world.origin}${path}`);

test("each function says whether it has a key: none is said in magenta, never by an empty cell", async () => {
  const page = await open("/functions");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await expect.poll(() => row("record-stripe-payment").innerText()).toContain("event.data.payment");
  const drafts = row("draft-invoice-from-placement");
  expect(await drafts.locator(".no-key").innerText()).toContain("none");
  const [magenta, colour] = await drafts.locator(".no-key").evaluate((cell) => {
    const probe = document.createElement("i");
    probe.style.color = "var(--doubled)";
    cell.append(probe);
    return [getComputedStyle(probe).color, getComputedStyle(cell).color];
  });
  expect(colour).toBe(magenta);
  // 2 ran, 4 more were stopped.
  const cells = await row("record-stripe-payment").getByRole("cell").allInnerTexts();
  expect(cells.slice(3, 5).map((text) => text.trim())).toEqual(["2", "4"]);
  await drafts.getByRole("link").first().click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("draft-invoice-from-placement");
  expect(page.troubles).toEqual([]);
});

test("each function shows its last verdict with its age and whether the code has changed since; none is never shown as good", async () => {
  const { functions } = await world.api("/api/functions");
  const place = { file: "src/draft-invoice.ts", line: 14 };
  const finding = { id: "6f3c0a6be8b1d2f4", kind: "DOUBLED", isAccepted: false, place, schedule: "die-after-effect:2" };
  const verdict = (fn: string, over: object) => ({
    ...{ function: fn, verdict: "HELD", schedules: 61, effects: 2, findingCount: 0, findings: [], place: null },
    ...{ code: "abcdefghij", at: Date.now() - 2 * 3_600_000 },
    ...over,
  });
  const mails = functions.find(({ id }: { id: string }) => id === "send-welcome-mail") ?? functions.at(-1);
  const body = JSON.stringify({
    verdicts: [
      verdict(story.drafts, { verdict: "DOUBLED", findingCount: 1, findings: [finding], place }),
      verdict(story.payments, {}),
      verdict(mails.function, { verdict: "UNPROVEN", schedules: 0 }),
    ],
  });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${world.origin}/api/verdicts`, { method: "POST", headers, body })).status).toBe(200);
  const page = await open("/functions");
  const cell = (name: string) => page.getByRole("row").filter({ hasText: name }).getByRole("cell").nth(2);
  await expect
    .poll(() => cell("record-stripe-payment").innerText())
    .toMatch(/HELD in 61 schedules\s+2 h ago\s+code changed/);
  expect(await cell("draft-invoice-from-placement").innerText()).toContain("DOUBLED in 61 schedules");
  expect(await cell(mails.id).innerText()).toContain("UNPROVEN in 0 schedules");
  expect(await cell("nightly-report").innerText()).toBe("never verified");
  expect(await cell("nightly-report").locator(".completed").count()).toBe(0);
  expect(await cell(mails.id).locator(".completed").count()).toBe(0);
  await page.getByRole("button", { name: /^Never verified \d/ }).click();
  await expect.poll(() => page.getByRole("row").filter({ hasText: "record-stripe-payment" }).count()).toBe(0);
  expect(page.url()).toContain("verdict=never");
  await page.goto(`${world.origin}/functions/${story.drafts}`);
  const part = page.locator(".verdict-part");
  await expect.poll(() => part.innerText()).toContain("The code that is registered now is another one.");
  expect(await part.innerText()).toContain("src/draft-invoice.ts:14");
  expect(await part.innerText()).toContain(
    "npx idem verify src/draft-invoice.ts --function draft-invoice-from-placement --from-store --schedule die-after-effect:2",
  );
  await page.goto(`${world.origin}/functions/${report}`);
  await expect.poll(() => part.innerText()).toContain("Never verified");
  expect(await part.innerText()).toContain(
    `npx idem verify path/to/module.ts --function nightly-report --publish ${world.origin}`,
  );
  expect(page.troubles).toEqual([]);
});

test("one function shows its configuration, its figures and three charts with the same numbers as tables", async () => {
  const page = await open(`/functions/${story.payments}`);
  await expect.poll(() => page.locator(".set-up").innerText()).toContain("event.data.payment");
  expect(await page.locator(".set-up").innerText()).toContain("event stripe/payment.succeeded");
  await expect.poll(() => page.locator(".function-charts canvas").count()).toBe(3);
  expect(await page.getByRole("img", { name: "2 runs completed, none failed" }).count()).toBe(1);
  await page.keyboard.press("t");
  await page.getByRole("button", { name: "Show as table" }).first().click();
  const table = page.getByRole("table", { name: "2 runs completed, none failed" });
  await expect.poll(() => table.getByRole("row").count()).toBeGreaterThan(1);
  // The range stands in the address.
  await page.getByRole("button", { name: "7 d" }).click();
  await expect.poll(() => page.url()).toContain("range=7d");
  await page.reload();
  await expect.poll(() => page.getByRole("button", { name: "7 d" }).getAttribute("aria-pressed")).toBe("true");
  expect(page.troubles).toEqual([]);
});

test("a schedule shows its next five ticks in local time, and each limit how much of it is taken", async () => {
  const page = await open(`/functions/${report}`);
  await expect.poll(() => page.locator(".ahead ol li").count()).toBe(5);
  const ticks = await page.locator(".ahead ol li").allInnerTexts();
  expect(ticks.every((text) => text.includes("03:00:00"))).toBe(true);
  expect(await page.locator(".ahead ul").innerText()).toMatch(/Limit\s+0 of 5/);
});

test("a paused function keeps its events; resuming it starts what they would have started", async () => {
  const page = await open(`/functions/${story.payments}`);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.innerText()).toContain("Its events are kept");
  await dialog.getByRole("button", { name: "Pause record-stripe-payment" }).click();
  await expect.poll(() => page.locator("main").innerText()).toContain("Paused since");
  const ahead = () => page.locator(".ahead").innerText();
  const pay = (payment: string) => world.send({ name: "stripe/payment.succeeded", data: { payment, amount: 1 } });
  await pay("pi_paused");
  await expect.poll(ahead, { timeout: 10_000 }).toMatch(/Events that wait for a person\s+1/);
  // Right after a read the page rests: what comes meanwhile must not be lost.
  await pay("pi_paused_too");
  await expect.poll(ahead, { timeout: 10_000 }).toMatch(/Events that wait for a person\s+2/);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await dialog.getByLabel("2 events came while it was paused").selectOption("release");
  await dialog.getByRole("button", { name: "Resume record-stripe-payment" }).click();
  await expect.poll(() => page.getByRole("button", { name: "Pause", exact: true }).count()).toBe(1);
  const { runs } = await world.api(`/api/runs?function=${story.payments}&key=pi_paused`);
  expect(runs).toHaveLength(1);
  expect((await world.api("/api/audit")).entries.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(["pause-function", "resume-function"]),
  );
});

test("invoking it twice with one key starts one run, and says so on the spot", async () => {
  const page = await open(`/functions/${story.payments}`);
  await page.getByRole("button", { name: "Invoke" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Form" }).click();
  await dialog.getByLabel("payment").fill("pi_by_hand");
  await dialog.getByRole("button", { name: "Start record-stripe-payment" }).click();
  await expect.poll(() => dialog.locator(".invoked").innerText()).toContain("started a run");
  await dialog.getByRole("button", { name: "Start it again" }).click();
  await expect.poll(() => dialog.locator(".invoked").innerText()).toContain("duplicate, its key is taken");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Invoke");
});

test("an app that cannot be reached is refused with the reason, and nothing is registered", async () => {
  const page = await open("/apps");
  await page.getByRole("button", { name: "Add an app" }).click();
  await page.getByLabel("Serve address").fill("http://127.0.0.1:9/api/inngest");
  await page.getByRole("button", { name: "Ask it for its functions" }).click();
  await expect
    .poll(() => page.getByRole("dialog").getByRole("alert").innerText(), { timeout: 15_000 })
    .toMatch(/127\.0\.0\.1:9/);
  expect((await world.api("/api/functions")).functions).toHaveLength(6);
});

test("they are sound to assistive technology, and never scroll sideways in either size", async () => {
  await expectSoundPages(world.origin, [
    "/functions",
    `/functions/${story.drafts}`,
    `/functions/${report}`,
    "/functions/none",
    "/apps",
  ]);
});
