import { test } from "vitest";
import { looks, openBrowser, openPage } from "./browser.ts";
import { axeFindings } from "./accessibility.ts";
import { openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  const story = await tellStory(world);
  const browser = await openBrowser();
  for (const look of looks) {
    const page = await openPage(browser, `${world.origin}/events`, look);
    await page.waitForSelector(".row");
    await page.screenshot({ path: `/tmp/shots/events-${look.width}-${look.theme}.png` });
    console.log(look, page.troubles, await axeFindings(page));
  }
  await browser.close();
  await world.close();
});
