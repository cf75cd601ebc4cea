// The figures of docs/scaling.md, by the names they have there: what a run costs, and one case worked through with it. All of it is
// arithmetic over bench/results/postgres.json; `node bench/dist/postgres/capacity.js` prints it again without measuring.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../machine.ts";
import { count, ms } from "../peers/summary.ts";
import type { Measured } from "./measured.ts";
import { middleOf, type Results } from "./results.ts";

/** The assumptions of the worked case, which docs/scaling.md names. */
const assumed = {
  runsPerMonth: 1e9,
  daysPerMonth: 30,
  peakFactor: 5,
  /** How busy processors may be at the peak. */
  utilisation: 0.5,
  windowDays: 1,
  claimsPerRun: 2,
  spareSpace: 1.3,
  sessionsPerProcess: 9,
} as const;

const pageBytes = 8_192;

interface RunCost {
  readonly rows: number;
  readonly rowWrites: number;
  readonly deadRows: number;
  readonly historyBytes: number;
  readonly claimBytes: number;
  readonly claimIndexBytes: number;
  /** Of the log, without pages that are logged whole; and how long one of those is. */
  readonly logBytes: number;
  readonly imageBytes: number;
  readonly commits: number;
  readonly commitsAlone: number;
  readonly syncs: number;
  readonly nodeUs: number;
  readonly postgresUs: number;
}

function runCostOf({ beside, stored }: Required<Pick<Results, "beside" | "stored">>): RunCost {
  const one = middleOf(beside.rounds.map((round) => round.one));
  const alone = middleOf(beside.rounds.map((round) => round.alone));
  const few = middleOf(stored.rounds.map((round) => round.few)).costs;
  const many = middleOf(stored.rounds.map((round) => round.many)).costs;
  // History as it grows under real runs: steps of many runs come mixed, and updates leave something behind, so it is less compact than
  // what was filled. Claims as they were filled: new ones first take the room that pages have.
  const grown = (table: string): number =>
    many.tables[`idem.${table}`]!.heapBytes + many.tables[`idem.${table}`]!.indexBytes;
  const claims = stored.filled.many.bytes.claims!;
  const images = many.walPageImages - few.walPageImages;
  // Too few to tell how long they are: as full as the pages of a B-tree with random keys are.
  const imageBytes = images < 0.1 ? pageBytes * 0.7 : (many.walBytes - few.walBytes) / images;
  const tables = Object.values(one.costs.tables);
  const sum = (of: (table: (typeof tables)[number]) => number) => tables.reduce((all, each) => all + of(each), 0);
  return {
    rows: sum(({ inserted, deleted }) => inserted - deleted),
    rowWrites: one.costs.rowWrites,
    deadRows: sum(({ updated, deleted }) => updated + deleted),
    historyBytes: grown("events") + grown("decisions") + grown("runs") + grown("steps"),
    claimBytes: claims.heap + claims.index,
    claimIndexBytes: claims.index / assumed.claimsPerRun,
    logBytes: few.walBytes - few.walPageImages * imageBytes,
    imageBytes,
    commits: one.costs.commits,
    commitsAlone: alone.costs.commits,
    syncs: one.costs.walSyncs,
    nodeUs: one.nodeUs,
    postgresUs: one.postgresUs?.all ?? Number.NaN,
  };
}

/**
 * The number of pages a run logs whole: a page is, when it is written for the first time after a checkpoint. Only claims' keys come in no
 * order, so only their index is written all over; the pages that a checkpoint's worth of keys falls on, each drawn at random.
 */
export function imagesPerRun(runsPerSecond: number, checkpointSeconds: number, claimIndexBytes: number): number {
  const day = 86_400;
  const pages = (runsPerSecond * day * assumed.windowDays * assumed.claimsPerRun * claimIndexBytes) / pageBytes;
  const runs = runsPerSecond * checkpointSeconds;
  return (pages * (1 - Math.exp((-runs * assumed.claimsPerRun) / pages))) / runs;
}

function capacityOf(results: Results): Record<string, string> {
  const { beside, stored, held } = results;
  if (beside === undefined || stored === undefined) return {};
  const cost = runCostOf({ beside, stored });
  const { one, alone, two, dbos } = beside.standings;
  const { runsPerMonth, daysPerMonth, peakFactor, utilisation, windowDays, spareSpace, sessionsPerProcess } = assumed;
  const perDay = runsPerMonth / daysPerMonth;
  const mean = perDay / 86_400;
  const peak = mean * peakFactor;
  const storage = (days: number) => perDay * (days * cost.historyBytes + windowDays * cost.claimBytes) * spareSpace;
  const logOf = (checkpointSeconds: number): number =>
    cost.logBytes + imagesPerRun(mean, checkpointSeconds, cost.claimIndexBytes) * cost.imageBytes;
  const processes = Math.max(2, Math.ceil(peak / (utilisation * one!.perSecond.median)));
  const lastSlice = (when: "before" | "held") => held?.slices.filter((slice) => slice.when === when).at(-1);
  const rate = (measured: { readonly perSecond: { readonly median: number } } | undefined): string =>
    measured === undefined ? "–" : count(measured.perSecond.median);
  return {
    machine: `${results.machine.cpu}, ${results.machine.cores} cores, ${results.machine.memoryGb} GB, PostgreSQL ${results.settings.server_version}, ${results.machine.takenAt.slice(0, 10)}`,
    one_runs_s: rate(one),
    two_runs_s: rate(two),
    two_to_one: beside.ratios.twoToOne.median.toFixed(1),
    dbos_runs_s: rate(dbos),
    alone_p50_ms: ms(alone!.p50Ms.median),
    many_to_few: stored.ratio.median.toFixed(2),
    rows: cost.rows.toFixed(0),
    row_writes: cost.rowWrites.toFixed(0),
    dead_rows: cost.deadRows.toFixed(0),
    history_bytes: count(cost.historyBytes),
    claim_bytes: count(cost.claimBytes),
    claim_index_bytes: count(cost.claimIndexBytes),
    log_bytes: count(cost.logBytes),
    image_bytes: count(cost.imageBytes),
    commits: cost.commits.toFixed(2),
    commits_alone: cost.commitsAlone.toFixed(1),
    syncs: cost.syncs.toFixed(2),
    node_us: count(cost.nodeUs),
    postgres_us: count(cost.postgresUs),
    node_runs_core: count(1e6 / cost.nodeUs),
    postgres_runs_core: count(1e6 / cost.postgresUs),
    loop_busy: `${Math.round(middleOf(beside.rounds.map((round) => round.one)).loopBusy * 100)} %`,
    waits: shortWaits(middleOf(beside.rounds.map((round) => round.one))),
    held_left: held === undefined ? "–" : held.leftOfThroughput.toFixed(2),
    held_before_ms: ms(lastSlice("before")?.leaseP50Ms ?? Number.NaN),
    held_lease_ms: ms(lastSlice("held")?.leaseP50Ms ?? Number.NaN),
    case_mean: count(mean),
    case_peak: count(peak),
    case_node_cores: ((peak * cost.nodeUs) / 1e6 / utilisation).toFixed(1),
    case_postgres_cores: ((peak * cost.postgresUs) / 1e6 / utilisation).toFixed(1),
    case_processes: String(processes),
    case_sessions: count(processes * sessionsPerProcess),
    case_rows_s: count(mean * cost.rowWrites),
    case_commits_s: count(peak * cost.commits),
    case_day: terabytes(perDay * cost.historyBytes),
    case_claims: terabytes(perDay * windowDays * cost.claimBytes * spareSpace),
    case_7_days: terabytes(storage(7)),
    case_30_days: terabytes(storage(30)),
    case_90_days: terabytes(storage(90)),
    case_images_5: imagesPerRun(mean, 300, cost.claimIndexBytes).toFixed(1),
    case_images_30: imagesPerRun(mean, 1_800, cost.claimIndexBytes).toFixed(1),
    case_log_5: terabytes(perDay * logOf(300)),
    case_log_30: terabytes(perDay * logOf(1_800)),
    case_log_mb_s: ((peak * logOf(1_800)) / 1e6).toFixed(0),
    case_xids: count((perDay * cost.commits) / 1e6),
    case_xids_alone: count((perDay * cost.commitsAlone) / 1e6),
    case_dead_s: count(mean * cost.deadRows),
    case_delete_s: count(mean * cost.rows),
  };
}

function terabytes(bytes: number): string {
  return bytes >= 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : `${(bytes / 1e9).toFixed(0)} GB`;
}

const shortWaits = ({ waits }: Measured): string =>
  Object.entries(waits)
    .slice(0, 4)
    .map(([what, mean]) => `${what} ${mean.toFixed(1)}`)
    .join("; ");

export function printCapacity(results: Results): void {
  const figures = Object.entries(capacityOf(results));
  if (figures.length === 0) return;
  console.log("\nFor docs/scaling.md");
  for (const [name, value] of figures) console.log(`  {{${name}}}`.padEnd(26), value);
}

if (process.argv[1]?.endsWith("capacity.js")) {
  const file = process.argv[2] ?? join(root, "bench", "results", "postgres.json");
  printCapacity(JSON.parse(readFileSync(file, "utf8")) as Results);
}
