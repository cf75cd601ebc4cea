// npm run proof -- crash [--short] [--seed N] [--jobs N] [--engine <folder>] [--fresh]
// npm run proof -- crash --store postgres [--short] [--seed N] [--minutes N] [--kills N] [--engine <folder>]
// npm run proof -- crash --store postgres --apps [--short] [--seed N] [--minutes N]
// npm run proof -- crash --power-loss [--synchronous NORMAL] [--runs N] [--cuts N]
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { appsReport, appsShape, shortAppsShape } from "./apps/campaign.ts";
import { type AppsResult, runAppsRound } from "./apps/round.ts";
import { fingerprint, fullForm, killCount, runCampaign, shortForm } from "./campaign.ts";
import type { Violation } from "./check.ts";
import { builtEngine, crashPoints, root } from "./engine.ts";
import { faultCount, fullShape, postgresReport, shortShape } from "./postgres-campaign.ts";
import { type PostgresResult, runPostgresRound } from "./postgres-round.ts";
import { losePower, whyNoTrace } from "./power-loss.ts";
import { Progress, reportOf } from "./report.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    short: { type: "boolean", default: false },
    sweep: { type: "boolean", default: false },
    apps: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    engine: { type: "string", default: builtEngine },
    summary: { type: "string" },
    fresh: { type: "boolean", default: false },
    minutes: { type: "string", default: "10" },
    kills: { type: "string", default: "1" },
    "power-loss": { type: "boolean", default: false },
    synchronous: { type: "string", default: "FULL" },
    runs: { type: "string", default: "500" },
    cuts: { type: "string", default: "1000" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run proof -- crash                         2,100 kills of real processes; goes on where it was stopped
npm run proof -- crash --short              60 kills
  --seed N          the first seed
  --jobs N          victims side by side; 2 unless given
  --engine FOLDER   another build of the engine
  --fresh           forget an earlier summary of the same code
npm run proof -- crash --store postgres     three nodes over one PostgreSQL: kills, freezes, lost sessions, crashes of the server,
                                        a standby that freezes
  --minutes N       rounds begin until so many minutes are over; 10 unless given
  --kills N         … and until so many nodes were killed
  --short           one round of half a minute
  --sweep           no node stays: each sweeps again and again
  --apps            three servers behind a load balancer instead: apps of the official SDK, a worker that connects, durable endpoints
                    and subscribers, while servers are killed and lines are cut
npm run proof -- crash --power-loss         replays a traced write log, cut at every promise (needs strace)
  --synchronous NORMAL   the self-check: it must lose data
  --runs N --cuts N      how much to trace, and how often to cut`);
  process.exit(0);
}

function number(option: "seed" | "jobs" | "runs" | "cuts" | "minutes" | "kills"): number {
  const value = Number(values[option]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${option} must be a whole number above 0`);
  return value;
}

const seed = number("seed");
const engine = resolve(values.engine);
if (values.store !== "sqlite" && values.store !== "postgres") throw new Error("--store must be sqlite or postgres");
const torture =
  values.store === "postgres" ? (values.apps ? tearServers : tearNodes) : values["power-loss"] ? cutPower : kill;
process.exitCode = (await torture()) ? 0 : 1;

async function kill(): Promise<boolean> {
  const form = values.short ? shortForm : fullForm;
  // One file for each state of the code: two campaigns on different code never write over each other.
  const summary = values.summary ?? join(root, ".idem", `torture-${form.name}-${seed}-${fingerprint(engine)}.json`);
  if (values.fresh) rmSync(summary, { force: true });
  const kills = form.rounds.map((shape) => killCount(shape, crashPoints.length));
  const total = kills.reduce((a, b) => a + b, 0);
  console.log(
    `${form.name} form: ${form.rounds.length} rounds, ${total} kills, seeds from ${seed}; results in ${summary}`,
  );
  const progress = new Progress("kills", total);
  const startedAt = Date.now();
  const rounds = await runCampaign({
    form,
    seed,
    jobs: number("jobs"),
    engine,
    summary,
    onKill: () => progress.step(),
    onRound: (result, isOld) => {
      if (isOld) progress.skip(kills[result.seed - seed]!);
      progress.end();
      const from = isOld ? "from an earlier start" : `in ${Math.round(result.tookMs / 1_000)} s`;
      console.log(`seed ${result.seed}: ${result.acked} events, ${result.violations.length} violations, ${from}`);
    },
  });
  console.log(reportOf(rounds));
  console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s`);
  return rounds.every(({ violations }) => violations.length === 0);
}

async function tearNodes(): Promise<boolean> {
  const shape = { ...(values.short ? shortShape : fullShape), sweeps: values.sweep };
  const untilMs = values.short ? 0 : number("minutes") * 60_000;
  const killsMin = values.short ? 0 : number("kills");
  const startedAt = Date.now();
  const rounds: PostgresResult[] = [];
  const kills = () => rounds.reduce((sum, { faults }) => sum + (faults.kill ?? 0), 0);
  do {
    const round = seed + rounds.length;
    console.log(`seed ${round}: ${shape.nodes} nodes, ${faultCount(shape)} faults`);
    const onFault = (atMs: number, kind: string, about: string) =>
      console.log(`${(atMs / 1_000).toFixed(1).padStart(7)} s  ${kind.padEnd(20)} ${about}`);
    const onViolation = ({ check, detail }: Violation) => console.log(`VIOLATED ${check}\n         ${detail}`);
    const result = await runPostgresRound({ ...shape, seed: round, engine, onFault, onViolation });
    rounds.push(result);
    const took = Math.round(result.tookMs / 1_000);
    console.log(`seed ${round}: ${result.acked} events, ${result.violations.length} violations, in ${took} s`);
  } while (Date.now() - startedAt < untilMs || kills() < killsMin);
  console.log(postgresReport(rounds));
  console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s`);
  return rounds.every(({ violations }) => violations.length === 0);
}

async function tearServers(): Promise<boolean> {
  const shape = values.short ? shortAppsShape : appsShape;
  const untilMs = values.short ? 0 : number("minutes") * 60_000;
  const startedAt = Date.now();
  const rounds: AppsResult[] = [];
  do {
    const round = seed + rounds.length;
    console.log(`seed ${round}: ${shape.nodes} servers for ${shape.forMs / 1_000} s`);
    const onFault = (atMs: number, kind: string, about: string) =>
      console.log(`${(atMs / 1_000).toFixed(1).padStart(7)} s  ${kind.padEnd(20)} ${about}`);
    const onViolation = ({ check, detail }: Violation) => console.log(`VIOLATED ${check}\n         ${detail}`);
    const result = await runAppsRound({ ...shape, seed: round, onFault, onViolation });
    rounds.push(result);
    const took = Math.round(result.tookMs / 1_000);
    console.log(
      `seed ${round}: ${result.evidence.asked.length} runs, ${result.violations.length} violations, in ${took} s`,
    );
  } while (Date.now() - startedAt < untilMs);
  console.log(appsReport(rounds));
  console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s`);
  return rounds.every(({ violations }) => violations.length === 0);
}

async function cutPower(): Promise<boolean> {
  const { synchronous } = values;
  if (synchronous !== "FULL" && synchronous !== "NORMAL") throw new Error("--synchronous must be FULL or NORMAL");
  const why = whyNoTrace();
  if (why !== null) {
    console.error(`Power loss is replayed from a trace of system calls, and ${why}.`);
    return false;
  }
  const runs = number("runs");
  console.log(`synchronous=${synchronous}: tracing ${runs} runs, seed ${seed}`);
  const startedAt = Date.now();
  let progress: Progress | null = null;
  const result = await losePower({
    engine,
    seed,
    runs,
    synchronous,
    cutsMax: number("cuts"),
    onCut: (_, of) => {
      progress ??= new Progress("cuts", of);
      progress.step();
    },
  });
  const { examples, ...counts } = result;
  for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(16)} ${String(count).padStart(8)}`);
  for (const example of examples) console.log(`  ${example}`);
  console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s`);
  const isWhole = result.lossyImages + result.damagedImages === 0;
  if (synchronous === "FULL") {
    console.log(isWhole ? "Nothing promised was lost." : "VIOLATED what was promised survives a loss of power");
    return isWhole && result.images > 0;
  }
  console.log(isWhole ? "VIOLATED NORMAL must lose data, or this test is blind" : "NORMAL loses data, as it must.");
  return !isWhole && result.damagedImages === 0;
}
