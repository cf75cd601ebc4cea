// `npm run screenshots`: a picture of each page at 1280 and 390 px, light and dark, of a real server with the story in it, into
// docs/screenshots. Those the README shows are kept in the repository, the others are for looking.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claimName } from "../src/pages/keys/claim-name.ts";
import { allLooks, closePage, openPage, scrollsSideways } from "./browser.ts";
import { openWorld, type Story, tellStory, type World } from "./world.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "docs", "screenshots");

async function addresses(world: World, story: Story): Promise<Readonly<Record<string, string>>> {
  const { doubled, payments, payment, drafts, again } = story;
  const alert = await wholeAlert(world);
  return {
    overview: "/",
    runs: "/runs",
    run: `/runs/${doubled.secondRun}`,
    compare: `/runs/${doubled.firstRun}/compare/${doubled.secondRun}`,
    events: "/events",
    event: `/events/${again.first}`,
    "new-event": "/events/new?name=stripe/payment.succeeded",
    keys: "/keys",
    key: `/keys/${encodeURIComponent(claimName({ scope: `fn:${payments}`, key: payment.key }))}`,
    functions: "/functions",
    function: `/functions/${drafts}`,
    line: `/functions/${drafts}/line`,
    workers: "/workers",
    apps: "/apps",
    webhooks: "/webhooks",
    radar: "/radar",
    alert: `/radar/alerts/${alert}`,
    suggestion: `/radar/suggestions/${drafts}`,
    rules: "/radar/rules",
    history: "/radar/history",
    explain: `/explain?q=${doubled.secondRun}`,
    audit: "/audit",
    settings: "/settings",
    login: "/login",
  };
}

const placements = 24;

/** The radar looks every second; its alert is what several pages are about, and it is whole when all pairs have joined it. */
async function wholeAlert(world: World): Promise<string> {
  const largest = async () => {
    const { alerts } = await world.api<{ alerts: { id: string; pairCount: number }[] }>("/api/radar/alerts");
    return alerts.toSorted((a, b) => b.pairCount - a.pairCount)[0];
  };
  await expect
    .poll(async () => (await largest())?.pairCount ?? 0, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(placements);
  return (await largest())!.id;
}

test("a picture of each page, in which nothing reaches over the edge and nothing is still on its way", async () => {
  await mkdir(folder, { recursive: true });
  const world = await openWorld();
  try {
    const story = await tellStory(world, { placements });
    for (const [name, path] of Object.entries(await addresses(world, story))) {
      for (const look of allLooks) {
        const page = await openPage(`${world.origin}${path}`, look);
        await expect.poll(() => page.locator("h1").count()).toBe(1);
        await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
        await page.screenshot({ path: join(folder, `${name}-${look.width}-${look.theme}.png`) });
        expect.soft([name, look, page.troubles]).toEqual([name, look, []]);
        expect.soft([name, look, await scrollsSideways(page)]).toEqual([name, look, false]);
        await closePage(page);
      }
    }
  } finally {
    await world.close();
  }
});
