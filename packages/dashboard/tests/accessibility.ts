// What axe finds wrong, in a line each; none when the page is fine.
import axe from "axe-core";
import type { Page } from "playwright-core";

export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger and not by the page, so that the page's policy stays as it is.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (window as any).axe.run(document, {
      resultTypes: ["violations"],
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.flatMap((each: any) =>
      each.nodes.map(
        (node: any) =>
          `${each.id}: ${node.target.join(" ")}: ${node.failureSummary.split("\n").slice(1, 2).join(" ").trim()}`,
      ),
    );
  });
}
