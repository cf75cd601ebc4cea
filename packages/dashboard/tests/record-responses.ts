// `npx vitest run --config packages/dashboard/recorder.config.ts`: what a real server responds to every page of the dashboard, with one of
// everything in it, into tests/recorded-responses.jsonl, one response a line. Component tests are given these. They are checked against the
// schemas of the routes with every run of the tests: record anew when a route has changed.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closePage, openPage } from "./browser.ts";
import { addressesOf, playScenario } from "./scenario.ts";
import { openWorld } from "./world.ts";

const root = join(import.meta.dirname, "..", "..", "..");

test("what the server responds to each page", async () => {
  const world = await openWorld();
  const { story, ids } = await playScenario(world);
  const page = await openPage(`${world.origin}/settings`);
  // One instant for the whole record: what a page asks for is the same whenever the record is used.
  const recordedAt = Date.now();
  await page.clock.setFixedTime(recordedAt);
  const responses: Record<string, unknown> = {};
  page.on("response", async (response) => {
    const request = response.request();
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.startsWith("/api/") || pathname === "/api/live" || request.method() !== "GET") return;
    searchParams.sort();
    const query = searchParams.toString();
    const name = `${pathname}${query === "" ? "" : `?${query}`}`;
    const text = await response.text().catch(() => null);
    if (text === null) return;
    const isJson = /json/.test(response.headers()["content-type"] ?? "");
    responses[name] = { status: response.status(), ...(isJson ? { json: JSON.parse(text) } : { text }) };
  });
  const addresses = addressesOf(ids, story);
  for (const address of addresses) {
    await page.goto(`${world.origin}${address}`);
    await expect.poll(() => page.locator("h1").count()).toBe(1);
    await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
    // A page asks for more once it has the first response.
    await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => {});
  }
  await closePage(page);
  const sorted = Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = [
    { recordedAt, origin: world.origin, ids, story },
    ...sorted.map(([request, response]) => ({ request, ...(response as object) })),
  ];
  // The same wherever it is recorded.
  const text = lines
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")
    .replaceAll(`${root}/`, "/app/")
    .replaceAll(/\/tmp\/idem-dashboard-\w+\//g, "/data/");
  await writeFile(join(import.meta.dirname, "recorded-responses.jsonl"), text);
  await world.close();
});
