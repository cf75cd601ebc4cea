// The audit: narrowed by the server, shared by its address, saved for a spreadsheet.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./accessibility.ts";
import { looks, scrollsSideways, visit, wear } from "./browser.ts";
import { define, openWorld, type World } from "./world.ts";

let world: World;
let runs: readonly string[];

const act = (path: string, body: unknown) =>
  fetch(`${world.origin}/api${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  world = await openWorld();
  const slug = await define(world, { id: "approve" }, { event: "approval/asked" }, ({ step }) =>
    step.waitForEvent("yes", { event: "approval/given", timeout: "1h" }),
  );
  const sent = await world.send(...[1, 2, 3].map((order) => ({ name: "approval/asked", data: { order } })));
  runs = sent.decisions.map(({ runId }) => runId!);
  for (const run of runs) await world.reached(run, "waiting");
  await act(`/runs/${runs[0]}/cancel`, { reason: "wrong order" });
  await act(`/runs/${runs[0]}/rerun`, {});
  await act(`/runs/${runs[1]}/cancel`, { reason: '=HYPERLINK("http://evil.example")' });
  await act(`/functions/${slug}/pause`, { reason: "<img src=x onerror=alert(1)>" });
});

afterAll(() => world?.close());

test("entries are narrowed by what was done, who did it and words, the address holds the filter, and CSV has what is shown", async () => {
  const page = await visit(`${world.origin}/audit`);
  const rows = page.locator(".audit .row:not(.head)");
  await page.getByText("<img src=x onerror=alert(1)>").waitFor();
  expect(await rows.count()).toBe(4);
  await page.getByLabel("Did", { exact: true }).selectOption("cancel-run");
  await page.waitForURL(/action=cancel-run/);
  await expect.poll(() => rows.count()).toBe(2);
  await rows.first().getByRole("link", { name: "dev" }).click();
  await page.waitForURL(/actor=dev/);
  await page.keyboard.press("f");
  await page.keyboard.type("wrong ORDER");
  await page.waitForURL(/q=wrong/);
  await expect.poll(() => rows.count()).toBe(1);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(1);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Save as CSV" }).click(),
  ]);
  const lines = (await readFile(await saved.path(), "utf8")).trim().split("\r\n");
  expect(lines).toEqual([
    "time,actor,action,subject,reason",
    expect.stringMatching(new RegExp(`,dev,cancel-run,${runs[0]},wrong order$`)),
  ]);
  await page.getByRole("button", { name: /Who dev/ }).click();
  await page.waitForURL((url) => !url.search.includes("actor"));
  // Rows of the filter before are faded until those of this one have come.
  await expect.poll(() => page.locator(".list.is-old").count()).toBe(0);
  for (const look of looks) {
    await wear(page, look);
    expect([look, await axeFindings(page)]).toEqual([look, []]);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(page.troubles).toEqual([]);
});
