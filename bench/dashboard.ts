// npm run bench:dashboard [-- --runs 1000000] [--on sqlite,postgres] [--asks 40] [--seconds 3]
// The default page of the dashboard (/api/groups and /api/totals) over a store that holds a million ended runs of seven days, asked over
// HTTP one after the other; and what one page that follows /api/live costs runs that are being executed. Writes bench/results/dashboard.json,
// or dashboard-part.json when something was left out. Ends with an error when the page takes longer than 150 ms.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type * as CreateFunction from "../packages/idem/dist/sdk/create-function.js";
import type * as StartServer from "../packages/idem/dist/server/start-server.js";
import { fillPostgres, fillSqlite, functions } from "./dashboard-fill.ts";
import { describeMachine, root } from "./machine.ts";
import { keepInFlightFor } from "./measure.ts";
import { startServer as startPostgres } from "./postgres/server.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    on: { type: "string", default: "sqlite,postgres" },
    asks: { type: "string", default: "40" },
    seconds: { type: "string", default: "3" },
  },
});
const runs = Number(values.runs);
const asks = Number(values.asks);
const windowMs = Number(values.seconds) * 1_000;
const rounds = 3;
const pageMsMax = 150;

const dist = (file: string): Promise<unknown> => import(pathToFileURL(join(root, "packages/idem/dist", file)).href);
const { startServer } = (await dist("server/start-server.js")) as typeof StartServer;
const { defineFunction } = (await dist("sdk/create-function.js")) as typeof CreateFunction;
type Server = Awaited<ReturnType<typeof startServer>>;

interface Figures {
  readonly fillSeconds: number;
  readonly countSeconds: number;
  /** Milliseconds from request to the last byte. */
  readonly pages: Readonly<Record<string, { readonly p50: number; readonly max: number }>>;
  /** Runs per second, and what one costs this process: the reading of the page that follows is in it. */
  readonly live: Readonly<Record<"unwatched" | "watched", { readonly perSecond: number; readonly cpuUs: number }>>;
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error };
const open = (store: string): Promise<Server> =>
  startServer({ mode: "dev", port: 0, store, discovery: false, poll: false, radar: false }, { logger: quiet });

async function prepare(store: string): Promise<void> {
  const server = await open(store);
  const engine = await server.world.engine("default");
  await engine.store.register({ env: "default", app: "shop", functions });
  await server.close();
}

async function take(store: string, fill: () => void | Promise<void>): Promise<Figures> {
  await prepare(store);
  const fillSeconds = await secondsOf(fill);
  const server = await open(store);
  try {
    const engine = await server.world.engine("default");
    const countSeconds = await secondsOf(async () => {
      while (!(await engine.store.count({ env: "default", until: engine.now(), max: 2_000 })).isAll);
    });
    const pages = {
      "the default page": ["/api/groups?since=7d", "/api/totals?since=7d"],
      "groups, page 20": [await deepPage(server)],
      "one function": ["/api/groups?fn=shop-bill", "/api/totals?fn=shop-bill"],
      "failed runs": ["/api/groups?show=failed"],
      "text that is nowhere": ["/api/groups?q=nowhere"],
      "an expression": ["/api/groups?cel=event.data.total%20%3D%3D%203"],
      functions: ["/api/functions"],
    };
    const taken: Record<string, { p50: number; max: number }> = {};
    for (const [name, paths] of Object.entries(pages)) taken[name] = await askedFor(server, paths);
    return { fillSeconds, countSeconds, pages: taken, live: await throughput(server) };
  } finally {
    await server.close();
  }
}

async function secondsOf(body: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await body();
  return (performance.now() - startedAt) / 1_000;
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

/** Both requests of a page at once, as a browser asks. */
async function askedFor(server: Server, paths: readonly string[]): Promise<{ p50: number; max: number }> {
  const took: number[] = [];
  for (let i = 0; i < asks + 3; i++) {
    const startedAt = performance.now();
    await Promise.all(paths.map((path) => read(server, path)));
    // The first ones are the compiler's and the cache's.
    if (i >= 3) took.push(performance.now() - startedAt);
  }
  took.sort((a, b) => a - b);
  return { p50: took[Math.floor(took.length / 2)]!, max: took.at(-1)! };
}

/** Runs of one step each, with and without a page that follows them; in turn, and the one in the middle counts. */
async function throughput(server: Server): Promise<Figures["live"]> {
  const engine = await server.world.engine("default");
  const options = { id: "work", idempotency: "event.data.n" };
  const body = ({ step }: any) => step.run("one", () => 1);
  await engine.register(defineFunction("bench", options, [{ event: "bench/work" }], body as never, []));
  let n = 0;
  const one = async () => {
    const { decisions } = await engine.accept([{ name: "bench/work", data: { n: ++n } }], 86_400_000, []);
    await engine.ends.wait(decisions[0]!.runId!, null);
  };
  const taken: Record<"unwatched" | "watched", { perSecond: number; cpuUs: number }[]> = { unwatched: [], watched: [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of ["unwatched", "watched"] as const) {
      const gone = new AbortController();
      if (kind === "watched") void follow(server, gone.signal);
      const [before, from] = [process.cpuUsage(), n];
      const { perSecond } = await keepInFlightFor(100, { warmUpMs: 500, windowMs }, one);
      const { user, system } = process.cpuUsage(before);
      taken[kind].push({ perSecond, cpuUs: (user + system) / (n - from) });
      gone.abort();
    }
  }
  const middle = (some: readonly number[]) => [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)]!;
  const inTheMiddle = (some: (typeof taken)["watched"]) => ({
    perSecond: middle(some.map(({ perSecond }) => perSecond)),
    cpuUs: middle(some.map(({ cpuUs }) => cpuUs)),
  });
  return { unwatched: inTheMiddle(taken.unwatched), watched: inTheMiddle(taken.watched) };
}

async function follow(server: Server, signal: AbortSignal): Promise<void> {
  try {
    const { body } = await fetch(`${server.origin}/api/live`, { signal });
    for await (const _ of body!);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
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
    figures.sqlite = await take(`sqlite:${path}`, () => fillSqlite(path, shop));
  }
  if (postgres !== null) {
    await postgres.createDatabase("dashboard");
    const fill = () => postgres.inside("dashboard", (client) => fillPostgres(client, "idem", shop));
    figures.postgres = await take(postgres.urlOf("dashboard"), fill);
  }
} finally {
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
}

const isWhole = runs >= 1_000_000 && values.on === "sqlite,postgres";
mkdirSync(join(root, "bench/results"), { recursive: true });
writeFileSync(
  join(root, "bench/results", isWhole ? "dashboard.json" : "dashboard-part.json"),
  `${JSON.stringify({ machine, loadBefore, runs, figures }, null, 2)}\n`,
);
console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.node}, load ${loadBefore!.toFixed(1)}; ${runs} runs`);
for (const [name, { pages, live, fillSeconds, countSeconds }] of Object.entries(figures)) {
  console.log(`\n${name}  filled in ${fillSeconds.toFixed(0)} s, counted in ${countSeconds.toFixed(0)} s`);
  for (const [page, { p50, max }] of Object.entries(pages)) {
    console.log(`  ${page.padEnd(22)} p50 ${p50.toFixed(0)} ms, max ${max.toFixed(0)} ms`);
  }
  const { watched, unwatched } = live;
  const cost = (of: "perSecond" | "cpuUs") => `${(Math.abs(1 - watched[of] / unwatched[of]) * 100).toFixed(1)} %`;
  const more = watched.perSecond < unwatched.perSecond ? "fewer" : "more";
  console.log(
    `  followed live: ${watched.perSecond.toFixed(0)} runs/s, ${cost("perSecond")} ${more} than unwatched (aim: ≤ 5 % fewer)`,
  );
  console.log(
    `  processor time per run: ${unwatched.cpuUs.toFixed(0)} µs unwatched, ${watched.cpuUs.toFixed(0)} µs watched`,
  );
}
const slow = Object.entries(figures).filter(([, { pages }]) => pages["the default page"]!.p50 > pageMsMax);
if (slow.length > 0) {
  console.error(`the default page takes longer than ${pageMsMax} ms on ${slow.map(([name]) => name).join(" and ")}`);
  process.exitCode = 1;
}
