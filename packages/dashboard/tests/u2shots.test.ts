import { test } from "vitest";
import { looks, openBrowser, openPage } from "./browser.ts";
import { define, openWorld } from "./world.ts";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
test("shots", async () => {
  const world = await openWorld();
  const browser = await openBrowser();
  let invoices = 0;
  const failed = new Set<string>();
  await define(world, { id: "draft-invoice-from-placement", backoff: () => 1000 }, { event: "bullhorn/placement.event" }, async ({ event, step, runId }: any) => {
    const placement = await step.run("fetch-placement", async () => { await pause(120); if (event.data.eventType === "UPDATED" && !failed.has(runId)) { failed.add(runId); throw new Error("Bullhorn answered 503"); } return { id: event.data.placementId, amountCents: 428_000 }; });
    await Promise.all([step.run("load-markup-table", async () => { await pause(121); return { markup: 0.21 }; }), step.run("load-holidays", async () => { await pause(214); return ["2026-05-14"]; })]);
    await step.effect("create-stripe-draft", { destination: "stripe", entity: `placement-${placement.id}` }, async () => { await pause(640); return { id: `in_1RPq8x${++invoices}`, customer: "cus_Nf4tV1", status: "draft", total: placement.amountCents, currency: "eur", metadata: { placementId: placement.id } }; });
    await step.sleep("cool-off", "9s");
    await step.run("queue-for-approval", async () => { await pause(45); return { rowId: 8840 + invoices }; });
    await step.waitForEvent("wait-for-approval", { event: "invoice/approved", timeout: "5d" });
    return { approved: true };
  });
  await define(world, { id: "load-pages", retries: 0 }, { event: "pages/wanted" }, async ({ step }: any) => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => step.run(`load-page-${i}`, async () => { await pause(50 + i); if (i === 7) throw new Error("Page 7 answered 404"); return i; }).catch(() => null)));
    return "done";
  });
  const go = async (placementId: number, eventType: string) => (await world.send({ name: "bullhorn/placement.event", data: { placementId, eventType, clientId: 118, rate: 92.5, hours: 38, startsOn: "2026-05-18" } })).decisions[0]!.runId!;
  const pages = (await world.send({ name: "pages/wanted", data: {} })).decisions[0]!.runId!;
  const first = await go(48213, "INSERTED");
  await pause(800);
  const second = await go(48213, "UPDATED");
  await go(48212, "INSERTED"); await go(48212, "UPDATED");
  await pause(13500);
  const shots: Record<string, string> = { run: `/runs/${second}?step=create-stripe-draft`, compare: `/runs/${first}/compare/${second}`, pages: `/runs/${pages}`, attempts: `/runs/${second}?step=fetch-placement&tab=attempts`, table: `/runs/${second}?view=table` };
  for (const look of looks) for (const [name, path] of Object.entries(shots)) {
    if (look !== looks[0] && !["run", "compare"].includes(name)) continue;
    const page = await openPage(browser, `${world.origin}${path}`, look);
    await page.waitForSelector("h1"); await page.waitForTimeout(700);
    await page.screenshot({ path: `/tmp/u2/${name}-${look.width}-${look.theme}.png`, fullPage: look.width === 390 || name === "compare" });
    if (name === "run" && look === looks[0]) { console.log(await page.locator(".top-bar").textContent(), page.troubles); console.log(await (await fetch(`${world.origin}/api/live`, { signal: AbortSignal.timeout(2000) }).catch((e) => ({ status: String(e) } as any))).status);
      await world.send({ name: "invoice/approved", data: {} }); await page.waitForTimeout(1500); await page.screenshot({ path: `/tmp/u2/after.png` }); console.log(await page.locator(".top-bar").textContent(), await page.locator(".run-head").textContent()); }
    await page.context().close();
  }
  await browser.close(); await world.close();
}, 180000);
