import { test } from "vitest";
import { stripe } from "idem/webhooks";
import { axeFindings } from "./accessibility.ts";
import { looks, openBrowser, openPage, scrollsSideways } from "./browser.ts";
import { define, openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  const story = await tellStory(world);
  await define(world, { id: "nightly-report", idempotency: "event.id", concurrency: { limit: 5 } } as any, { cron: "TZ=Europe/Amsterdam 0 3 * * *" }, () => null);
  const post = (path: string, body: unknown) => fetch(world.origin + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  await post("/api/webhooks", { name: "stripe", provider: "stripe", secret: "whsec_abc" });
  await post("/api/webhooks", { name: "bullhorn", provider: "generic-hmac", header: "x-signature" });
  const deliver = (id: string, secret: string) => {
    const bytes = Buffer.from(JSON.stringify({ id, type: "invoice.paid", data: { object: { id: "in_1" } } }));
    const { headers } = stripe({ secrets: [secret] }).sign({ secret, bytes, url: `${world.origin}/w/stripe`, id: "", type: null, at: Date.now() });
    return fetch(`${world.origin}/w/stripe`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: bytes });
  };
  for (const [id, secret] of [["evt_1", "whsec_abc"], ["evt_1", "whsec_abc"], ["evt_2", "whsec_abc"], ["evt_3", "whsec_other"]] as const) await deliver(id, secret);
  const browser = await openBrowser();
  const pages: Record<string, string> = {
    explain: "/explain?q=48213",
    suppressed: "/explain?q=pi_3RPq7Lm",
    none: "/explain?q=nope",
    several: "/explain?q=evt_4821",
    functions: "/functions",
    function: `/functions/${story.payments}`,
    drafts: `/functions/${story.drafts}`,
    apps: "/apps",
    webhooks: "/webhooks",
    webhook: "/webhooks/stripe",
  };
  const only = process.env.ONLY?.split(",");
  for (const [name, path] of Object.entries(pages)) {
    if (only !== undefined && !only.includes(name)) continue;
    for (const look of looks) {
      const page = await openPage(browser, world.origin + path, look);
      await page.waitForSelector(".card, .error-part", { timeout: 5000 }).catch(async () => console.log("MISSING", name, page.troubles, (await page.content()).slice(0, 1500)));
      await page.waitForLoadState("networkidle").catch(() => {});
      await page.waitForTimeout(300);
      await page.screenshot({ path: `/tmp/u3shots/${name}-${look.width}-${look.theme}.png`, fullPage: look.width === 390 });
      console.log(name, look.width, look.theme, page.troubles, await axeFindings(page), await scrollsSideways(page));
      await page.context().close();
    }
  }
  await browser.close();
  await world.close();
}, 300_000);
