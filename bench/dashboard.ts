// npm run bench:dashboard [-- --runs 1000000] [--on sqlite,postgres] [--asks 40] [--seconds 3] [--pages 200] [--only pages,costs,scroll]
// Every page of the dashboard over a store that holds a million ended runs of seven days, asked over HTTP one after the other; the
// cost of three pages that follow live, and of the radar, to runs that are being executed; and a browser that is scrolled through
// two hundred pages. Reports its progress on stderr, and prints a table for docs/performance.md. Writes bench/results/dashboard.json, or
// dashboard-part.json when something was left out. Ends with an error when a page takes longer than 150 ms. Some ten minutes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type * as StartServer from "../packages/idem/modules/server/start-server.js";
import { fillPostgres, fillSqlite, functions } from "./dashboard-fill.ts";
import { type Costs, takeCosts } from "./dashboard-live.ts";
import { type ScrollFacts, scrollThrough } from "./dashboard-scroll.ts";
import { describeMachine, root } from "./machine.ts";
import { startServer as startPostgres } from "./postgres/server.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    on: { type: "string", default: "sqlite,postgres" },
    asks: { type: "string", default: "40" },
    seconds: { type: "string", default: "3" },
    pages: { type: "string", default: "200" },
    only: { type: "string", default: "pages,costs,scroll" },
  },
});
const runs = Number(values.runs);
const asks = Number(values.asks);
const windowMs = Number(values.seconds) * 1_000;
const pageMsMax = 150;
const auditEntries = 2_000;
// Somebody asks for it and waits: it goes over 10,000 events at a time.
const countedForSomebody: readonly string[] = ["a rule tried"];
const defaultPage = "the default page, with its numbers";

const dist = (file: string): Promise<unknown> => import(pathToFileURL(join(root, "packages/idem/modules", file)).href);
const { startServer } = (await dist("server/start-server.js")) as typeof StartServer;
type Server = Awaited<ReturnType<typeof startServer>>;

interface Figures {
  readonly fillSeconds: number;
  readonly countSeconds: number;
  /** Milliseconds from request to the last byte. */
  readonly pages: Readonly<Record<string, Spread>>;
  readonly costs: Costs | null;
  readonly scroll: ScrollFacts | null;
}

interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

const startedAt = performance.now();
const say = (line: string): void =>
  console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}`);

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error };
const open = (store: string): Promise<Server> =>
  startServer({ mode: "dev", port: 0, store, discovery: false, poll: false, radar: false }, { logger: quiet });

async function prepare(store: string): Promise<void> {
  const server = await open(store);
  const engine = await server.world.engine("default");
  await engine.store.register({ env: "default", app: "shop", functions });
  const entries = Array.from({ length: auditEntries }, (_, n) => n);
  for (let from = 0; from < auditEntries; from += 100) {
    const audited = entries.slice(from, from + 100).map((n) => ({
      ...({ env: "default", action: "cancel-run", subject: `run-${n}` } as const),
      ...{ reason: `asked for by customer ${n}`, actor: `operator session ${n % 9}` },
    }));
    await Promise.all(audited.map((entry) => engine.store.audit(entry)));
  }
  await server.close();
}

async function take(name: string, store: string, fill: () => void | Promise<void>): Promise<Figures> {
  const tell = (line: string) => say(`${name}: ${line}`);
  await prepare(store);
  tell(`writing ${runs} runs`);
  const fillSeconds = await secondsOf(fill);
  const server = await open(store);
  try {
    tell("counting them");
    const engine = await server.world.engine("default");
    const countSeconds = await secondsOf(async () => {
      while (!(await engine.store.count({ env: "default", until: engine.now(), max: 2_000 })).isAll);
    });
    const isWanted = (part: string) => values.only.includes(part);
    const pages = await pagesOf(server);
    const taken: Record<string, Spread> = {};
    for (const [page, paths] of Object.entries(isWanted("pages") ? pages : {})) {
      tell(page);
      taken[page] = await askedFor(server, paths);
    }
    // The browser's part is the same over every store.
    const isScrolled = isWanted("scroll") && name === "sqlite";
    const scroll = isScrolled ? await scrollThrough(server.origin, Number(values.pages), tell) : null;
    const costs = isWanted("costs") ? await takeCosts(server, windowMs, tell) : null;
    return { fillSeconds, countSeconds, pages: taken, costs, scroll };
  } finally {
    await server.close();
  }
}

/** A browser's requests for each page. */
async function pagesOf(server: Server): Promise<Readonly<Record<string, readonly string[]>>> {
  const { runs: newest } = await read(server, "/api/runs?function=shop-bill&limit=50");
  const { id: run, eventId: event, key } = newest[25];
  const { runs: oldest } = await read(
    server,
    `/api/runs?until=${new Date(shop.until - 6 * 864e5).toISOString()}&limit=1`,
  );
  const long = "group=none&since=7d&limit=100";
  return {
    overview: ["/api/overview?range=24h", "/api/status", "/api/workers"],
    "overview of an hour": ["/api/overview?range=1h", "/api/status", "/api/workers"],
    "overview of a week": ["/api/overview?range=7d", "/api/status", "/api/workers"],
    [defaultPage]: ["/api/groups?since=7d&totals=true"],
    "the numbers alone": ["/api/totals?since=7d"],
    "groups, page 20": [await deepPage(server)],
    "one function": ["/api/groups?fn=shop-bill", "/api/totals?fn=shop-bill"],
    "grouped by function": ["/api/groups?group=function&since=7d", "/api/totals?since=7d"],
    "grouped by event": ["/api/groups?group=event&since=7d", "/api/totals?since=7d"],
    "what ran twice": ["/api/groups?show=doubled&since=7d"],
    "what was suppressed": ["/api/groups?show=suppressed&since=7d"],
    "what has no worker": ["/api/groups?show=no-worker"],
    "groups, newest first": ["/api/groups?order=newest&since=7d"],
    "who asked for a key": [`/api/groups/${run}/askers`],
    "runs one by one": [`/api/groups?${long}`],
    "runs of a key": [`/api/groups?group=none&fn=shop-bill&key=${encodeURIComponent(key)}`],
    "runs of an event": [`/api/groups?group=none&event=${event}`],
    "runs of events of a name": [`/api/groups?${long}&event=${encodeURIComponent("order/paid")}`],
    ...Object.fromEntries(
      openStates.map((state) => [`runs that are ${state}`, [`/api/groups?group=none&state=${state}`]]),
    ),
    "cancelled in a week": ["/api/groups?group=none&state=cancelled&endedSince=7d"],
    "completed in a day, one function": ["/api/groups?group=none&state=completed&endedSince=24h&fn=shop-bill"],
    "before noon of a day": [`/api/groups?${dayOf(shop.until - 3 * 864e5)}`],
    "failed runs": ["/api/groups?show=failed"],
    "failed in a week, one by one": ["/api/groups?group=none&state=failed&endedSince=7d"],
    "failed in an hour six days ago": [`/api/groups?group=none&state=failed&${hourOf(shop.until - 6 * 864e5)}`],
    "ended in the last hour": ["/api/groups?group=none&endedSince=1h"],
    "longest first": [`/api/groups?${long}&order=longest`],
    "shortest first": [`/api/groups?${long}&order=shortest`],
    "longest first, failed": [`/api/groups?${long}&order=longest&state=failed`],
    "first started first": [`/api/groups?${long}&order=started-first`],
    "last started first, one function": [`/api/groups?${long}&order=started-last&fn=shop-bill`],
    "text that is nowhere": ["/api/groups?q=nowhere"],
    "an expression": ["/api/groups?cel=event.data.total%20%3D%3D%203"],
    "a run": [`/api/runs/${run}`, `/api/runs/${run}/group`, `/api/runs/${run}/effects`, `/api/runs/${run}/logs`],
    "two runs compared": [`/api/runs/${run}`, `/api/runs/${newest[26].id}`, `/api/runs/${run}/group`],
    "an old run": [`/api/runs/${oldest[0].id}`, `/api/runs/${oldest[0].id}/group`],
    events: ["/api/events?decisions=true&limit=100", "/api/event-types"],
    "events that were duplicates": ["/api/events?decisions=true&limit=100&outcome=duplicate"],
    "events that came to nothing": ["/api/events?decisions=true&limit=100&outcome=nothing"],
    "events nobody listens to": ["/api/events?decisions=true&limit=100&outcome=unheard"],
    "events of a name": [`/api/events?decisions=true&limit=100&name=${encodeURIComponent("order/paid")}`],
    "events of a function": ["/api/events?decisions=true&limit=100&fn=shop-draft"],
    "events that started a function": ["/api/events?decisions=true&limit=100&fn=shop-draft&outcome=started"],
    "events with a value": ["/api/events?decisions=true&value=c-77"],
    "events six days ago": [`/api/events?decisions=true&limit=100&${dayOf(shop.until - 6 * 864e5)}`],
    "an event": [`/api/events/${event}`],
    keys: ["/api/keys?limit=100"],
    "keys asked for most": ["/api/keys?order=hits&limit=100"],
    "keys whose window ends next": ["/api/keys?order=ends&limit=100"],
    "keys of a function": ["/api/keys?function=shop-bill&limit=100"],
    "part of a key": ["/api/keys?q=77&limit=100"],
    "a key": [`/api/keys/${encodeURIComponent("fn:shop-bill")}/${encodeURIComponent(key)}`],
    functions: ["/api/functions"],
    "a function": ["/api/functions/shop-bill", "/api/functions/shop-bill/charts?range=24h"],
    "a function over an hour": ["/api/functions/shop-bill", "/api/functions/shop-bill/charts?range=1h"],
    "a function over 7 days": ["/api/functions/shop-bill", "/api/functions/shop-bill/charts?range=7d"],
    "a function over 30 days": ["/api/functions/shop-bill", "/api/functions/shop-bill/charts?range=30d"],
    "a function's line": ["/api/functions/shop-bill/line"],
    "explain a run": [`/api/explain?q=${run}`],
    "explain a key": [`/api/explain?q=${encodeURIComponent(key)}`],
    search: ["/api/search?q=99204"],
    "search, two words": ["/api/search?q=bill%20992"],
    "search, an id": [`/api/search?q=${run}`],
    "search, a name": [`/api/search?q=${encodeURIComponent("order/paid")}`],
    radar: ["/api/radar/alerts", "/api/radar/rules"],
    "a suggested key": ["/api/radar/suggestions/shop-draft"],
    "radar's history": ["/api/radar/alerts?state=closed", "/api/radar/alerts?state=acknowledged"],
    "a rule tried": ["/api/radar/preview?of=event.data.orderId&within=60s"],
    audit: ["/api/audit"],
    "audit, what, by whom, with words": [
      "/api/audit?action=cancel-run",
      `/api/audit?actor=${encodeURIComponent("operator session 3")}`,
      "/api/audit?text=nowhere",
    ],
    workers: ["/api/workers"],
    apps: ["/api/apps", "/api/status"],
    "webhooks, settings": ["/api/webhooks", "/api/search/fields", "/api/radar/channels"],
    "what stands around every page": ["/api/status", "/api/session", "/api/radar/alerts", "/api/views", "/api/bulk"],
  };
}

const openStates = ["queued", "running", "waiting", "parked"] as const;

function dayOf(at: number): string {
  const from = Math.floor(at / 864e5) * 864e5;
  return `since=${new Date(from).toISOString()}&until=${new Date(from + 432e5).toISOString()}`;
}

function hourOf(at: number): string {
  const from = Math.floor(at / 36e5) * 36e5;
  return `endedSince=${new Date(from).toISOString()}&endedUntil=${new Date(from + 36e5).toISOString()}`;
}

async function secondsOf(body: () => unknown): Promise<number> {
  const from = performance.now();
  await body();
  return (performance.now() - from) / 1_000;
}

async function read(server: Server, path: string): Promise<any> {
  const answer = await fetch(`${server.origin}${path}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}

async function deepPage(server: Server): Promise<string> {
  let path = "/api/groups?since=7d";
  for (let page = 1; page < 20; page++) {
    const { next } = await read(server, path);
    if (next === null) break;
    path = `/api/groups?since=7d&before=${next}`;
  }
  return path;
}

/** The requests of a page at once, as a browser asks. */
async function askedFor(server: Server, paths: readonly string[]): Promise<Spread> {
  const took: number[] = [];
  for (let i = 0; i < asks + 3; i++) {
    const startedAt = performance.now();
    await Promise.all(paths.map((path) => read(server, path)));
    // The first ones are the compiler's and the cache's.
    if (i >= 3) took.push(performance.now() - startedAt);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  return { p50: at(0.5), p95: at(0.95), max: took.at(-1)! };
}

const machine = describeMachine();
// Figures taken beside other work say little.
const [loadBefore] = loadavg();
const folder = mkdtempSync(join(tmpdir(), "idem-bench-"));
const shop = { runs, until: Date.now() - 60_000 };
const figures: Record<string, Figures> = {};
const postgres = values.on.includes("postgres") ? await startPostgres() : null;
try {
  if (values.on.includes("sqlite")) {
    const path = join(folder, "dashboard.db");
    figures.sqlite = await take("sqlite", `sqlite:${path}`, () => fillSqlite(path, shop));
  }
  if (postgres !== null) {
    await postgres.createDatabase("dashboard");
    const fill = () => postgres.inside("dashboard", (client) => fillPostgres(client, "idem", shop));
    figures.postgres = await take("postgres", postgres.urlOf("dashboard"), fill);
  }
} finally {
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
}

const isWhole =
  runs >= 1_000_000 &&
  values.on === "sqlite,postgres" &&
  ["pages", "costs", "scroll"].every((part) => values.only.includes(part));
mkdirSync(join(root, "bench/results"), { recursive: true });
writeFileSync(
  join(root, "bench/results", isWhole ? "dashboard.json" : "dashboard-part.json"),
  `${JSON.stringify({ machine, loadBefore, runs, figures }, null, 2)}\n`,
);
console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.node}, load ${loadBefore!.toFixed(1)}; ${runs} runs`);
const names = Object.keys(figures);
const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  ["", row(...head), row(...head.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");
const ms = ({ p50, p95 }: Spread) => `${p50.toFixed(0)} ms, ${p95.toFixed(0)} ms`;
const pageNames = Object.keys(figures[names[0]!]?.pages ?? {});
if (pageNames.length > 0) {
  const lines = pageNames.map((page) => [page, ...names.map((name) => ms(figures[name]!.pages[page]!))]);
  console.log(table([`page over ${runs.toLocaleString("en-US")} runs: p50, p95`, ...names], lines));
}
const costNames = Object.keys(figures[names[0]!]?.costs ?? {}) as (keyof Costs)[];
if (costNames.length > 0) {
  const lines = costNames.flatMap((what) =>
    names.map((name) => {
      const cost = figures[name]!.costs![what];
      const ratio = cost.with.perSecond / cost.without.perSecond;
      const cpu = `${cost.without.cpuUs.toFixed(0)} µs, ${cost.with.cpuUs.toFixed(0)} µs`;
      return [what, name, cost.without.perSecond.toFixed(0), cost.with.perSecond.toFixed(0), ratio.toFixed(3), cpu];
    }),
  );
  console.log(
    table(["watched by", "store", "runs/s without", "with", "ratio (aim: ≥ 0.95)", "processor time per run"], lines),
  );
}
const { scroll } = figures.sqlite ?? { scroll: null };
if (scroll !== null) {
  const { pages, frames, lateFrames, longestFrameMs, rowsDrawnMax, heapMb } = scroll;
  const lines = [
    ["rows drawn at once, at most", `${rowsDrawnMax}`],
    ["frames over 50 ms", `${lateFrames} of ${frames}, the longest ${longestFrameMs.toFixed(0)} ms`],
    ["memory of scripts after a quarter, at the end", `${heapMb[0].toFixed(1)} MB, ${heapMb[1].toFixed(1)} MB`],
  ];
  console.log(table([`scrolling through ${pages} pages of 100 keys`, ""], lines));
}
for (const [name, { fillSeconds, countSeconds }] of Object.entries(figures)) {
  say(`${name}: written in ${fillSeconds.toFixed(0)} s, counted in ${countSeconds.toFixed(0)} s`);
}
const slow = Object.entries(figures).flatMap(([name, { pages }]) =>
  Object.entries(pages).flatMap(([page, { p50 }]) =>
    p50 > pageMsMax && !countedForSomebody.includes(page) ? `${page} on ${name}` : [],
  ),
);
if (slow.length > 0) {
  console.error(`longer than ${pageMsMax} ms: ${slow.join("; ")}`);
  process.exitCode = 1;
}
