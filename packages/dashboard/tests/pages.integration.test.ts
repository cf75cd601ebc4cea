// Every page in a real browser, over a server with one of everything in it: it loads without an error, fits both widths, and axe has nothing
// to say of it. What a page shows for which response is in the component tests beside it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { pageFiles } from "../src/pages.ts";
import { expectSound, expectSoundPage } from "./accessibility.ts";
import { visit } from "./browser.ts";
import { claimAddress, playScenario, type Scenario } from "./scenario.ts";
import { openWorld, type World } from "./world.ts";

let world: World;
let scenario: Scenario;

beforeAll(async () => {
  world = await openWorld();
  scenario = await playScenario(world);
});
afterAll(() => world?.close());

type Address = (scenario: Scenario) => string;

/** Each page at least once, and those of its looks that have parts of their own. */
const addresses: Readonly<Record<keyof typeof pageFiles, readonly Address[]>> = {
  "/": [() => "/", () => "/?range=7d"],
  "/runs": [
    ({ ids }) => `/runs?show=doubled&open=${ids.group}`,
    () => "/runs?group=function",
    () => "/runs?group=none",
    () => "/runs?state=failed",
  ],
  "/runs/$run": [
    ({ ids }) => `/runs/${ids.billedAgain}?step=create-stripe-draft`,
    ({ ids }) => `/runs/${ids.paid}?step=charge&tab=logs`,
    ({ ids }) => `/runs/${ids.parent}?view=table`,
    () => "/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV",
  ],
  "/runs/$run/compare/$other": [({ ids }) => `/runs/${ids.billed}/compare/${ids.billedAgain}`],
  "/events": [() => "/events"],
  "/events/$event": [({ story }) => `/events/${story.again.first}`],
  "/events/new": [() => "/events/new"],
  "/keys": [() => "/keys"],
  "/keys/$claim": [({ story }) => claimAddress(`fn:${story.payments}`, story.payment.key)],
  "/functions": [() => "/functions"],
  "/functions/$fn": [
    ({ story }) => `/functions/${story.drafts}`,
    () => "/functions/agency-nightly-report",
    () => "/functions/none",
  ],
  "/functions/$fn/line": [() => "/functions/agency-render-image/line"],
  "/workers": [() => "/workers"],
  "/apps": [() => "/apps"],
  "/webhooks": [() => "/webhooks"],
  "/webhooks/$source": [() => "/webhooks/stripe", () => "/webhooks/none"],
  "/radar": [() => "/radar"],
  "/radar/alerts/$alert": [({ ids }) => `/radar/alerts/${ids.alert}`],
  "/radar/suggestions/$fn": [({ story }) => `/radar/suggestions/${story.drafts}`],
  "/radar/rules": [() => "/radar/rules"],
  "/radar/history": [() => "/radar/history"],
  "/explain": [
    () => "/explain",
    () => "/explain?q=48213",
    () => "/explain?q=pi_3RPq7Lm",
    () => "/explain?q=evt_482",
    () => "/explain?q=none",
  ],
  "/audit": [() => "/audit"],
  "/settings": [() => "/settings"],
  "/login": [() => "/login"],
};

for (const [place, [page, nth, address]] of Object.entries(addresses)
  .flatMap(([page, each]) => each.map((address, i) => [page, i + 1, address] as const))
  .entries())
  test(`${page} loads, fits both widths and has no finding of axe${nth === 1 ? "" : `, look ${nth}`}`, () =>
    expectSoundPage(`${world.origin}${address(scenario)}`, place));

describe("what opens over a page is sound, too", () => {
  test("a selection of runs and the dialog of many", async () => {
    const page = await visit(`${world.origin}/runs?state=failed&group=none`);
    await page.locator(".pick input").first().click();
    await expectSound(page, 0);
    await page.getByRole("button", { name: "Rerun…" }).click();
    await page.locator("dialog[open] .bulk-counts li").first().waitFor();
    await expectSound(page, 1);
  });

  test("a rerun with other data", async () => {
    const page = await visit(`${world.origin}/runs/${scenario.ids.paid}`);
    await page.getByRole("button", { name: "Rerun with another" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill('{"order":7,"price":11}');
    await page.getByRole("dialog").getByText("The data gives the same key, 7.").waitFor();
    await expectSound(page, 2);
  });

  test("a form with mistakes", async () => {
    const page = await visit(`${world.origin}/events/new?name=billing%2Finvoice.asked`);
    await page.getByRole("button", { name: "Add to lines" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.locator(".told").waitFor();
    await expectSound(page, 3);
  });

  test("the search and what it found", async () => {
    const page = await visit(`${world.origin}/events`);
    await page.locator(".explain-box input").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("placement 48213");
    await page.locator(".search-results").getByText("data.placementId = 48213").waitFor();
    await page.locator('[role=listbox][aria-busy="false"]').waitFor();
    await expectSound(page, 0);
  });
});

test("a function without a key says so in magenta", async () => {
  const page = await visit(`${world.origin}/functions`);
  const none = page.getByRole("row").filter({ hasText: "draft-invoice-from-placement" }).locator(".no-key");
  const [magenta, colour] = await none.evaluate((cell) => {
    const probe = document.createElement("i");
    probe.style.color = "var(--doubled)";
    cell.append(probe);
    return [getComputedStyle(probe).color, getComputedStyle(cell).color];
  });
  expect(colour).toBe(magenta);
});

test("payloads, names, keys and ids of strangers run nothing and push nothing over the edge", async () => {
  const { ids } = scenario;
  const paths = [
    `/runs/${ids.hostile}`,
    `/events/${ids.hostileEvent}`,
    "/audit",
    `/explain?q=${encodeURIComponent('x"><img src=x onerror=alert(1)>\u202e<b>gnp.exe')}`,
    "/runs?group=event",
  ];
  const page = await visit(`${world.origin}${paths[0]}`);
  for (const [place, path] of paths.entries()) {
    if (place > 0) await page.goto(`${world.origin}${path}`);
    await page
      .getByText(/onerror|hostile/)
      .locator("visible=true")
      .first()
      .waitFor();
    expect(await page.evaluate(() => Object.keys(window).filter((name) => /^(broken|hacked)$/.test(name)))).toEqual([]);
    expect(await page.locator("main img, main script").count()).toBe(0);
    await expectSound(page, place);
  }
});
