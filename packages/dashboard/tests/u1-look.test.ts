import { test } from "vitest";
import { looks, openBrowser, openPage } from "./browser.ts";
import { openWorld, tellStory } from "./world.ts";
test("look", async () => {
  const world = await openWorld();
  await tellStory(world);
  await new Promise((r) => setTimeout(r, 4000));
  const browser = await openBrowser();
  const totals = await world.api("/api/totals");
  const real = await world.api("/api/groups?since=7d&order=newest");
  let seed = 7;
  const rnd = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const now = Date.now();
  const buckets = Array.from({ length: 56 }, (_, i) => {
    const at = now - (56 - i) * 3 * 3600e3;
    const work = [0, 3, 4, 5].includes(Math.floor(i / 8)) && i % 8 > 2 && i % 8 < 6;
    const first = work ? 30 + Math.floor(rnd() * 10) : Math.floor(rnd() * 6);
    const suppressed = work ? 10 + Math.floor(rnd() * 8) : 0;
    const slipped = work ? 1 + Math.floor(rnd() * 5) : 0;
    return { at, asked: first + suppressed + slipped, first, suppressed, slipped };
  });
  const sum = (k: "asked" | "first" | "suppressed" | "slipped") => buckets.reduce((s, b) => s + b[k], 0);
  const fake = { ...totals, since: buckets[0]!.at, until: now, bucketMs: 3 * 3600e3, buckets, asked: sum("asked"), first: sum("first"), suppressed: sum("suppressed"), slipped: sum("slipped") };
  const quiet = real.groups.find((g: any) => g.label.includes("pi_3RPq7Lm"));
  const loudG = real.groups.find((g: any) => g.isLoud);
  for (const look of [looks[1]!, looks[3]!]) {
    const page = await openPage(browser, `about:blank`.replace("about:blank", `${world.origin}/settings`), look);
    await page.route("**/api/totals**", (r) => r.fulfill({ json: fake }));
    await page.goto(`${world.origin}/runs`);
    await page.waitForSelector(".row.is-loud");
    await page.waitForTimeout(900);
    await page.screenshot({ path: `/tmp/shots/u1-runs-${look.width}-${look.theme}.png` });
    await page.locator(".row.is-loud .row-link").first().click(); await page.waitForSelector(".group-panel li"); await page.waitForTimeout(300);
    await page.screenshot({ path: `/tmp/shots/u1-open-${look.width}-${look.theme}.png` });
    await page.close();
  }
  // a hundred thousand
  const page = await openPage(browser, `${world.origin}/settings`, looks[0]);
  await page.route("**/api/totals**", (r) => r.fulfill({ json: fake }));
  let served = 0;
  await page.route("**/api/groups?**", (r) => {
    const q = new URL(r.request().url()).searchParams;
    const from = Number(q.get("before") ?? 0);
    const n = 100;
    served += n;
    const groups = Array.from({ length: n }, (_, i) => { const at = from + i; const g = at % 23 === 9 ? loudG : quiet; return { ...g, id: `g${at}`, label: g.label.replace(/\w+$/, `${at}`), runs: g.runs.map((x: any, k: number) => ({ ...x, id: `r${at}-${k}`, createdAt: now - at * 6000 + k * 800 })) }; });
    return r.fulfill({ json: { groups, functions: [], events: [], pinned: null, next: from + n < 100000 ? String(from + n) : null } });
  });
  await page.goto(`${world.origin}/runs?order=newest`);
  await page.waitForSelector(".row.is-loud");
  await page.waitForTimeout(600);
  await page.screenshot({ path: `/tmp/shots/u1-200.png` });
  // load many pages
  const t0 = Date.now();
  const result = await page.evaluate(async () => {
    const frames: number[] = [];
    let last = performance.now();
    const end = last + 25000;
    while (performance.now() < end) {
      window.scrollBy(0, 1500);
      await new Promise(requestAnimationFrame);
      const at = performance.now();
      frames.push(at - last);
      last = at;
    }
    frames.sort((a, b) => a - b);
    return { frames: frames.length, p50: frames[frames.length >> 1], p95: frames[Math.floor(frames.length * 0.95)], max: frames.at(-1), rows: document.querySelectorAll(".row").length, y: window.scrollY, h: document.documentElement.scrollHeight };
  });
  console.log(result, served, Date.now() - t0);
  await page.screenshot({ path: `/tmp/shots/u1-deep.png` });
  await browser.close();
  await world.close();
});
