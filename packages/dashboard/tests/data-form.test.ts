// Data written in a form that is made from the event's schema, in a real browser over a real server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ radar: false });
  const asked = z.object({
    invoice: z.string().min(3).describe("As accounting numbers them"),
    amount: z.number().positive(),
    currency: z.enum(["eur", "usd"]).default("eur"),
    dueOn: z.iso.date().optional(),
    buyer: z.object({ name: z.string(), isCompany: z.boolean().optional() }),
    lines: z.array(z.string()).optional(),
    reference: z.union([z.string(), z.number()]).optional(),
    html: z.string().describe("<script>window.hacked=1</script>\u202Egpj").optional(),
  });
  const events = { "billing/invoice.asked": asked };
  await define(world, { id: "write-invoice" }, { event: "billing/invoice.asked" }, () => null, events);
});
afterAll(() => world?.close());

test("an event with a schema has a form, which tells at the field what does not fit, and the app decides all the same", async () => {
  const page = await visit(`${world.origin}/events/new`);
  await page.getByLabel("Name").fill("billing/invoice.asked");
  await page.getByLabel("invoice (required)").fill("INV-7");
  expect(await page.getByLabel("currency").inputValue()).toBe('"eur"');
  await page.getByLabel("amount (required)").fill("12a");
  await page.getByLabel("dueOn").fill("soon");
  const at = (label: string) => page.locator(".field").filter({ has: page.getByLabel(label) });
  // Mistakes are shown once the field is left, not while it is typed; missing fields, once a person wants to send.
  await expect.poll(() => at("amount (required)").innerText()).toContain("It must be a number");
  const name = page.getByRole("group", { name: "buyer" }).getByLabel("name (required)");
  expect(await name.getAttribute("aria-invalid")).toBe("false");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect.poll(() => page.getByText("Nothing was sent: 3 fields do not fit").count()).toBe(1);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid"))).toBe("true");
  expect(await at("dueOn").innerText()).toContain("It must be a date, such as 2026-05-17");
  await name.fill("Ann");
  await page.getByLabel("amount (required)").fill("12.50");
  await page.getByRole("button", { name: "Add to lines" }).click();
  // The keyboard is where the new entry is.
  await page.keyboard.type("One placement");
  await page.getByLabel("reference").fill("{ not yet");
  // Both ways nothing is lost: what is typed as JSON stands in the form, and half a part waits for its rest.
  await page.getByRole("button", { name: "JSON" }).click();
  const json = page.getByLabel("Data", { exact: true });
  expect(await json.inputValue()).toContain('"amount": 12.50,');
  expect(await json.inputValue()).toContain('"lines": ["One placement"]');
  expect(await page.locator(".told li").allInnerTexts()).toEqual([
    "dueOn it must be a date, such as 2026-05-17",
    "reference this is not JSON yet; what stood there before would be sent",
  ]);
  await page.getByRole("button", { name: "Form" }).click();
  expect(await page.getByLabel("reference").inputValue()).toBe("{ not yet");
  await page.getByLabel("reference").fill("41");
  await page.getByRole("button", { name: "Send anyway" }).click();
  await expect.poll(() => page.locator(".sent").innerText()).toContain("started a run");
  expect(await page.locator(".told").count()).toBe(0);
  await page.locator(".sent").getByRole("link").first().click();
  await expect.poll(() => page.locator(".payload").innerText()).toContain("12.5");
  expect(page.troubles).toEqual([]);
});

test("a saved payload stands in the form as it was saved, and what the schema would begin with does not replace it", async () => {
  const page = await visit(`${world.origin}/events/new?name=billing%2Finvoice.asked`);
  await page.getByLabel("invoice (required)").fill("INV-9");
  await page.getByLabel("currency").selectOption("usd");
  await page.getByLabel("Save this one as").fill("in dollars");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.goto(`${world.origin}/events/new?saved=in+dollars`);
  await expect.poll(() => page.getByLabel("invoice (required)").inputValue()).toBe("INV-9");
  expect(await page.getByLabel("currency").inputValue()).toBe('"usd"');
  expect(page.troubles).toEqual([]);
});

test("a function is invoked with the form of the event that starts it, and words of a schema stay words", async () => {
  const page = await visit(`${world.origin}/functions/agency-write-invoice`);
  await page.getByRole("button", { name: "Invoke" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("invoice (required)").fill("INV-8");
  await dialog.getByLabel("amount (required)").fill("10");
  await dialog.getByLabel("name (required)").fill("Bo");
  expect(await dialog.innerText()).toContain("<script>window.hacked=1</script>‹U+202E›gpj");
  await dialog.getByRole("button", { name: "Start write-invoice" }).click();
  await expect.poll(() => dialog.locator(".invoked").innerText()).toContain("started a run");
  expect(await page.evaluate(() => (window as any).hacked)).toBeUndefined();
  expect(page.troubles).toEqual([]);
});

test("the form has no finding of axe, in both themes and sizes, and never scrolls sideways", async () => {
  const page = await visit(`${world.origin}/events/new?name=billing%2Finvoice.asked`);
  await expect.poll(() => page.getByLabel("invoice (required)").count()).toBe(1);
  await page.getByRole("button", { name: "Add to lines" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect.poll(() => page.locator(".told").count()).toBe(1);
  for (const look of looks) {
    await wear(page, look);
    expect([look, await axeFindings(page)]).toEqual([look, []]);
    expect([look, await scrollsSideways(page)]).toEqual([look, false]);
  }
  expect(page.troubles).toEqual([]);
});
