// The findings of axe, in a line each; none when the page is fine.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { allLooks, type Look, scrollsSideways, visit, type WatchedPage, wear } from "./browser.ts";

export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger and not by the page, so that the page's policy stays as it is.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (window as any).axe.run(document, {
      resultTypes: ["violations"],
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      // Style sheets are read anew for one rule, about turned screens, and take a third of the time: house-rules.test.ts reads them.
      preload: false,
    });
    return violations.flatMap((each: any) =>
      each.nodes.map(
        (node: any) =>
          `${each.id}: ${node.target.join(" ")}: ${node.failureSummary.split("\n").slice(1, 2).join(" ").trim()}`,
      ),
    );
  });
}

/** One look for each page, all four of them in turn; with ALL_LOOKS=1 every page in every look. */
export const looksOf = (place: number): readonly Look[] =>
  process.env.ALL_LOOKS === "1" ? allLooks : [allLooks[place % allLooks.length]!];

/** The page loads without an error, scrolls sideways in neither size, and axe has nothing to say of it. `place` chooses the look. */
export async function expectSoundPage(url: string, place: number): Promise<void> {
  const page = await visit(url);
  await page.locator("main .card, main .note, main .empty, main form").first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  await expectSound(page, place);
}

/** The same for a page as it is now: with a dialog, a menu, a result. */
export async function expectSound(page: WatchedPage, place: number): Promise<void> {
  for (const look of allLooks.slice(0, 2)) {
    await wear(page, look);
    expect([look, await scrollsSideways(page)]).toEqual([look, false]);
  }
  for (const look of looksOf(place)) {
    await wear(page, look);
    expect([look, await axeFindings(page)]).toEqual([look, []]);
  }
  expect(page.troubles).toEqual([]);
}
