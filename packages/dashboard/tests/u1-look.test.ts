import { test } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, openBrowser, openPage, scrollsSideways } from "./browser.ts";
import { openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  await tellStory(world);
  console.log(JSON.stringify(await world.api("/api/groups?since=7d")).slice(0, 3000));
  console.log(JSON.stringify(await world.api("/api/totals")).slice(0, 600));
  const browser = await openBrowser();
  for (const look of looks) {
    for (const [name, path] of [["runs", "/runs"], ["newest", "/runs?order=newest"], ["fn", "/runs?group=function"], ["event", "/runs?group=event"], ["none", "/runs?group=none"]]) {
      if (look.theme === "dark" && name !== "runs") continue;
      const page = await openPage(browser, `${world.origin}${path}`, look);
      await page.waitForSelector(".row");
      await page.waitForSelector(".headline");
      await page.waitForTimeout(800);
      if (name === "runs") await page.screenshot({ path: `/tmp/shots/u1-runs-${look.width}-${look.theme}.png` });
      if (name === "runs" && look.theme === "light") { await page.locator(".row.is-loud .row-link").first().click(); await page.waitForSelector(".group-panel li"); await page.screenshot({ path: `/tmp/shots/u1-open-${look.width}.png` }); }
      if (name !== "runs") await page.screenshot({ path: `/tmp/shots/u1-${name}-${look.width}-${look.theme}.png` });
      console.log(name, look, await scrollsSideways(page), page.troubles, await axeFindings(page));
      await page.close();
    }
  }
  await browser.close();
  await world.close();
});
