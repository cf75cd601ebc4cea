// npm run bench:retention [-- --store sqlite|postgres] [--scale 0.1] [--rounds 5] [--json out.json]
// What it costs runs that history is deleted meanwhile: the same load on a store that holds runs of forty days ago, with a retention of thirty
// days and without one, in turn. Figures are ratios of neighbours; for an idle machine.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ceilingOf } from "./ceiling.ts";
import { Idem, nodePlatform, openInlineStore, openStoreAt } from "./engine.ts";
import { describeMachine } from "./machine.ts";
import { keepInFlight, shuffled } from "./measure.ts";
import { startServer } from "./postgres/server.ts";
import { type Figure, type Figures, printRows, type Row, round, scaled, takeAll, takeOne } from "./take-figures.ts";
import { defineThreeSteps, oneRun, onFreshFile } from "./world.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    scale: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    figure: { type: "string" },
    json: { type: "string" },
  },
});

const oldMs = 40 * 86_400_000;
const scale = Number(values.scale);

/** Runs of forty days ago on a file: its clock is set back while they are written. */
async function fillFile(path: string, runs: number): Promise<void> {
  const clock = { wallMs: () => nodePlatform.wallMs() - oldMs, monoMs: () => nodePlatform.monoMs() };
  const store = openInlineStore({ path, clock, owner: "bench" });
  const one = await ceilingOf(store, true);
  await keepInFlight(100, runs, (n) => one(1_000_000_000 + n));
  await store.close();
}

const shifted = {
  events: ["received_at"],
  decisions: ["decided_at", "window_ends_at"],
  runs: ["created_at", "started_at", "ended_at"],
  claims: ["taken_at", "ends_at"],
};

async function load(store: string, isKept: boolean, total: number, countOld: () => Promise<number>): Promise<Figure> {
  const idem = new Idem({ id: "bench", store, runsInFlight: 2_000, ...(isKept ? {} : { retention: "30d" }) });
  defineThreeSteps(idem, { idempotency: "event.data.n" });
  await idem.start();
  try {
    const before = await countOld();
    await keepInFlight(100, Math.min(total, 2_000), (n) => oneRun(idem, { n: shuffled(-n - 1) }));
    const beganAt = performance.now();
    const cpu = process.cpuUsage();
    const { perSecond, p99Ms } = await keepInFlight(100, total, (n) => oneRun(idem, { n: shuffled(n) }));
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - beganAt) / 1_000;
    const goneRuns = before - (await countOld());
    return { perSecond, p99Ms, cpuUs: (user + system) / total, goneRuns, goneRunsPerSecond: goneRuns / seconds };
  } finally {
    await idem.stop();
  }
}

const sqlite =
  (isKept: boolean) =>
  (s: number): Promise<Figure> =>
    onFreshFile(async (path) => {
      // Each is a commit of its own: hundreds of thousands take minutes.
      await fillFile(path, scaled(60_000, s));
      const { default: Database } = await import("better-sqlite3");
      const reader = new Database(path, { readonly: true });
      const before = Date.now() - oldMs / 2;
      const sql = reader.prepare("select count(*) as count from runs where created_at < ?");
      const countOld = async () => (sql.get(before) as { count: number }).count;
      const figure = await load(`sqlite:${path}`, isKept, scaled(60_000, s), countOld);
      reader.close();
      return figure;
    });

const postgres =
  (isKept: boolean) =>
  async (s: number): Promise<Figure> => {
    const server = await startServer();
    try {
      await server.createDatabase("retained");
      const url = server.urlOf("retained");
      const { store } = await openStoreAt(url, nodePlatform);
      const one = await ceilingOf(store, true);
      await keepInFlight(200, scaled(100_000, s), (n) => one(1_000_000_000 + n));
      await store.close();
      return await server.inside("retained", async (client) => {
        for (const [table, columns] of Object.entries(shifted)) {
          const set = columns.map((column) => `${column} = ${column} - ${oldMs}`).join(", ");
          await client.query(`update idem.${table} set ${set}`);
          await client.query(`vacuum (full, analyze) idem.${table}`);
        }
        const before = Date.now() - oldMs / 2;
        const countOld = async () => {
          const sql = "select count(*)::int as count from idem.runs where created_at < $1";
          return (await client.query<{ count: number }>(sql, [before])).rows[0]!.count;
        };
        return load(url, isKept, scaled(30_000, s), countOld);
      });
    } finally {
      await server.remove();
    }
  };

const figures: Figures = {
  "sqlite-deleting": sqlite(false),
  "sqlite-keeping": sqlite(true),
  "postgres-deleting": postgres(false),
  "postgres-keeping": postgres(true),
};
if (values.figure !== undefined) await takeOne(figures, values.figure, scale);

if (values.store !== "sqlite" && values.store !== "postgres") {
  throw new Error(`--store ${values.store}: it is sqlite or postgres`);
}
const names = [`${values.store}-deleting`, `${values.store}-keeping`] as const;
const taken = takeAll(import.meta.url, Array.from({ length: Number(values.rounds) }, () => names).flat(), scale);
const [deleting = [], keeping = []] = names.map((name) => taken[name]);
const pairs = deleting.flatMap((figure, n) => (keeping[n] === undefined ? [] : [[figure, keeping[n]] as const]));
const middle = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const of = (list: readonly Figure[], name: string) => round(middle(list.map((figure) => figure[name]!)));
const ratio = (name: string) => {
  const all = pairs.map(([a, b]) => a[name]! / b[name]!);
  return `${middle(all).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
};
if (pairs.length === 0) throw new Error("no figure was taken");
const machine = describeMachine();
console.log(
  `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.commit}, ${machine.takenAt}, ${values.store}\n`,
);
const rows: Row[] = [
  [
    "runs/s, nothing is deleted / while history is",
    `${of(keeping, "perSecond")} / ${of(deleting, "perSecond")}`,
    `${ratio("perSecond")} (aim ≥ 0.95)`,
  ],
  ["p99 ms", `${of(keeping, "p99Ms")} / ${of(deleting, "p99Ms")}`, ratio("p99Ms")],
  ["processor time of this process per run, µs", `${of(keeping, "cpuUs")} / ${of(deleting, "cpuUs")}`, ratio("cpuUs")],
  [
    "old runs deleted each second meanwhile",
    of(deleting, "goneRunsPerSecond"),
    "more than runs/s: it keeps up, with a backlog too",
  ],
];
printRows(rows);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ machine, scale, taken }, null, 2));
