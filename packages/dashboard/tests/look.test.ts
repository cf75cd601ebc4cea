import { test } from "vitest";
import { looks, openBrowser, openPage, scrollsSideways } from "./browser.ts";
import { axeFindings } from "./accessibility.ts";
import { openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  const story = await tellStory(world);
  const browser = await openBrowser();
  const shots = { events: "/events", event: `/events/${story.doubled.secondEvent}`, again: `/events/${story.again.first}`, new: "/events/new?name=bullhorn/placement.event", keys: "/keys", key: `/keys/${encodeURIComponent(`fn:${story.payments}~-${story.payment.key}`)}`, nothing: "/radar/rules" };
  for (const look of looks) for (const [name, path] of Object.entries(shots)) {
    const page = await openPage(browser, `${world.origin}${path}`, look);
    await page.waitForSelector("h1");
    await page.waitForTimeout(300);
    if (name === "new") { await page.getByText("Fill from").click(); await page.waitForTimeout(200); await page.getByText("Send it twice").click(); await page.waitForTimeout(500); }
    await page.screenshot({ path: `/tmp/shots/${name}-${look.width}-${look.theme}.png` });
    console.log(name, look.width, look.theme, page.troubles, await axeFindings(page), await scrollsSideways(page));
    await page.context().close();
  }
  await browser.close();
  await world.close();
}, 180000);
