import { test } from "vitest";
import { looks, openBrowser, openPage, scrollsSideways } from "./browser.ts";
import { axeFindings } from "./accessibility.ts";
import { openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  const story = await tellStory(world, { placements: 12 });
  for (let i = 0; i < 60; i++) {
    const { alerts } = await world.api("/api/radar/alerts");
    if (alerts.some((a: any) => a.kind === "doubled-runs")) { console.log(JSON.stringify(alerts, null, 1)); break; }
    await new Promise((r) => setTimeout(r, 250));
  }
  console.log(JSON.stringify(await world.api(`/api/radar/suggestions/${story.drafts}`)));
  console.log(JSON.stringify(await world.api(`/api/radar/preview?of=event.data.placementId`)));
  const { alerts } = await world.api("/api/radar/alerts");
  const id = alerts.find((a: any) => a.kind === "doubled-runs").id;
  console.log(JSON.stringify((await world.api(`/api/radar/alerts/${id}`)).pairs.slice(0, 2)));
  await world.api("/api/audit");
  const browser = await openBrowser();
  const pages = (process.env.PAGES ?? "radar,settings,audit,login").split(",");
  for (const look of [looks[0]!])
    for (const name of pages) {
      const path = name === "alert" ? `radar/alerts/${id}` : name === "suggestion" ? `radar/suggestions/${story.drafts}` : name;
      const page = await openPage(browser, `${world.origin}/${path}`, look);
      await page.waitForLoadState("networkidle").catch(() => {});
      await page.waitForTimeout(1200);
      await page.screenshot({ path: `/tmp/u4/${name.replace("/", "-")}-${look.width}-${look.theme}.png`, fullPage: true });
      console.log(name, look.width, look.theme, page.troubles, await scrollsSideways(page), await axeFindings(page));
      await page.context().close();
    }
  await browser.close();
  await world.close();
}, 180_000);
