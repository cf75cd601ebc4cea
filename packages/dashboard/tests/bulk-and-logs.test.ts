// Many runs at once, and what their code wrote, in a real Chromium over a real server.
import { NonRetriableError } from "idem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, looksOf } from "./accessibility.ts";
import { looks, scrollsSideways, visit, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
let isMended = false;
const orders = 6;

beforeAll(async () => {
  world = await openWorld();
  await define(
    world,
    { id: "charge-order", retries: 0, idempotency: "event.data.orderId" },
    { event: "order/paid" },
    async ({ step, logger }) =>
      step.run("charge", () => {
        logger.warn("the gateway is slow", { ms: 900 });
        if (!isMended) throw new NonRetriableError("503 from payments.example");
        return { charge: "ch_1" };
      }),
  );
  for (let orderId = 1; orderId <= orders; orderId++) {
    const { decisions } = await world.send({ name: "order/paid", data: { orderId } });
    await world.reached(decisions[0]!.runId!, "failed");
  }
});

afterAll(() => world?.close());

const failed = "/runs?state=failed&group=none&since=1h";

test("rows are ticked one by one, by x and as a range; all that match are counted before anything is done, then rerun once", async () => {
  const page = await visit(`${world.origin}${failed}`, looks[0]!);
  const rows = page.locator(".by-run .row");
  await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(orders);
  const status = page.locator(".bulk-bar [role=status]");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect.poll(() => status.innerText()).toContain("1 of 6 shown here selected.");
  await page
    .locator(".pick input")
    .nth(3)
    .click({ modifiers: ["Shift"] });
  await expect.poll(() => status.innerText()).toContain("4 of 6 shown here selected.");
  await page.locator(".pick input").nth(1).click();
  await expect.poll(() => status.innerText()).toContain("3 of 6 shown here selected.");
  await page.getByRole("button", { name: "Clear" }).click();

  await page.getByRole("button", { name: "Select all 6 that match" }).click();
  await page.getByRole("button", { name: "Rerun…" }).click();
  const dialog = page.locator("dialog[open]");
  await dialog.getByText("will run again").waitFor();
  expect(await dialog.innerText()).toContain("Nothing has been started yet.");
  expect(await world.api("/api/bulk")).toEqual({ bulk: [] });
  const act = dialog.getByRole("button", { name: "Rerun 6 runs" });
  expect(await act.isDisabled()).toBe(true);
  isMended = true;
  await dialog.getByLabel("Reason, for the audit").fill("gateway is back");
  await dialog.getByLabel("Pace").selectOption("");
  await act.click();
  await dialog.getByRole("heading", { name: "Done: 6 runs started" }).waitFor({ timeout: 10_000 });
  await expect.poll(() => dialog.innerText(), { timeout: 10_000 }).toContain("6 completed");
  const { entries } = await world.api("/api/audit");
  expect(entries.filter(({ action }: any) => /bulk|rerun/.test(action))).toMatchObject([
    { action: "start-bulk", reason: "rerun: gateway is back" },
  ]);
  await dialog.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Select all 6 that match" }).click();
  await page.getByRole("button", { name: "Rerun…" }).click();
  await dialog.getByText("are left out: a later run of the same key is completed").waitFor();
  expect(await dialog.getByRole("button", { name: "Rerun 0 runs" }).isDisabled()).toBe(true);
  expect(page.troubles).toEqual([]);
});

test("what a step's code wrote stands beside the step and among the run's lines", async () => {
  const { runs } = await world.api("/api/runs?limit=1");
  const page = await visit(`${world.origin}/runs/${runs[0].id}`, looks[0]!);
  await page.locator(".run-logs").getByText("the gateway is slow").waitFor({ timeout: 15_000 });
  expect(await page.locator(".run-logs li").innerText()).toContain('{"ms":900}');
  await page.locator(".run-logs").getByRole("link", { name: "charge" }).click();
  await page.locator(".step-panel .log-lines").getByText("the gateway is slow").waitFor();
  for (const look of looks) {
    await wear(page, look);
    if (looksOf(1).includes(look)) expect(await axeFindings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    const pictures = process.env.BULK_PICTURES;
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}-logs-${look.width}-${look.theme}.png` });
  }
  expect(page.troubles).toEqual([]);
});

// Axe looks at each of the two in one look, at all of them with ALL_LOOKS=1: in a browser that gets a fifteenth of a processor, four times
// took longer than a test may.
test("the selection and its dialog have no axe findings and do not scroll sideways", async () => {
  for (const look of looks) {
    const page = await visit(`${world.origin}${failed}`, look);
    await page.locator(".pick input").first().click({ timeout: 15_000 });
    if (looksOf(0).includes(look)) expect(await axeFindings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole("button", { name: "Rerun…" }).click();
    await page.locator("dialog[open] .bulk-counts li").first().waitFor();
    if (looksOf(1).includes(look)) expect(await axeFindings(page)).toEqual([]);
    const pictures = process.env.BULK_PICTURES;
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}-${look.width}-${look.theme}.png` });
  }
});
