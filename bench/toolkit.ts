// npm run bench:toolkit [-- --quick] [--on sqlite,postgres] [--rounds 3] [--seconds 2]
// Idempotency-Key middleware: a fresh request, a replay, a hot key with 100 duplicates at once, key and rows in one transaction, and the key
// store by itself, each beside what it cannot be faster than; on a file of SQLite that waits for its disk and on a PostgreSQL that does. In
// process: a Request in, a Response out, and no socket, but for three figures through Express. Both databases in turn; while one thing is
// measured nothing else runs. About nine minutes; --quick takes less than one, and its figures are worth little. Ends with an error when a
// handler was executed twice. Writes bench/results/toolkit.json, or toolkit-quick.json, or toolkit-part.json when something was left out.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine, root } from "./machine.ts";
import { type BenchServer, startServer } from "./postgres/server.ts";
import { printReport } from "./toolkit/report.ts";
import { type Results, standingOf } from "./toolkit/results.ts";
import type { Round } from "./toolkit/round.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    on: { type: "string", default: "sqlite,postgres" },
    rounds: { type: "string" },
    seconds: { type: "string" },
  },
});
const isQuick = values.quick;
const rounds = Number(values.rounds ?? (isQuick ? 1 : 3));
const windowMs = Number(values.seconds ?? (isQuick ? 0.3 : 2)) * 1_000;
// The first hundreds of milliseconds of each figure are the compiler's.
const warmUpMs = isQuick ? 150 : 800;
const kept = isQuick ? 200 : 2_000;
const waves = isQuick ? 5 : 50;
const on = values.on.split(",");
/** The whole run, whatever hangs. */
const limitMs = 20 * 60_000;

const machine = describeMachine();
const [loadBefore] = loadavg() as [number, number, number];
const folder = mkdtempSync(join(tmpdir(), "idem-bench-"));
const children = new Set<ChildProcess>();
let server: BenchServer | null = null;
const giveUp = setTimeout(() => void end(`stopped after ${limitMs / 60_000} minutes`), limitMs);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end(signal));
// The server is a child that would outlive this process.
process.once("uncaughtException", (error) => void end(error.stack ?? error.message));

try {
  if (on.includes("postgres")) server = await startServer();
  const taken: { sqlite: Round[]; postgres: Round[] } = { sqlite: [], postgres: [] };
  for (let round = 1; round <= rounds; round++) {
    if (on.includes("sqlite")) taken.sqlite.push(await takeRound(round, "SQLite", join(folder, `${round}.db`)));
    if (server !== null) {
      const database = `toolkit_${round}`;
      await server.createDatabase(database);
      taken.postgres.push(await takeRound(round, "PostgreSQL", server.urlOf(database)));
    }
  }
  const results: Results = {
    machine,
    settings: server?.settings ?? {},
    options: { isQuick, rounds, warmUpMs, windowMs, loadBefore },
    ...(taken.sqlite.length > 0 ? { sqlite: standingOf(taken.sqlite) } : {}),
    ...(taken.postgres.length > 0 ? { postgres: standingOf(taken.postgres) } : {}),
    rounds: taken,
  };
  printReport(results);
  // A look at a part must not take the place of the whole.
  const isWhole = results.sqlite !== undefined && results.postgres !== undefined;
  const name = isQuick ? "toolkit-quick.json" : isWhole ? "toolkit.json" : "toolkit-part.json";
  const file = join(root, "bench", "results", name);
  mkdirSync(join(root, "bench", "results"), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  process.stderr.write(`\nWritten to ${file.slice(root.length + 1)}\n`);
} catch (error) {
  await end(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
clearTimeout(giveUp);
await tidyUp();

async function takeRound(round: number, name: string, at: string): Promise<Round> {
  process.stderr.write(`  round ${round}/${rounds}, ${name} `);
  const options = { at, "warm-up": warmUpMs, window: windowMs, kept, waves };
  const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
  const child = fork(fileURLToPath(new URL("./toolkit/round.js", import.meta.url)), args);
  children.add(child);
  const gone = once(child, "exit");
  const failed = gone.then(([code]): never => {
    throw new Error(`a round on ${name} ended with ${code}`);
  });
  failed.catch(() => {});
  const [taken] = (await Promise.race([once(child, "message"), failed])) as [Round];
  child.disconnect();
  await gone;
  children.delete(child);
  process.stderr.write("\n");
  return taken;
}

async function tidyUp(): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await server?.remove().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
}

async function end(why: string): Promise<never> {
  await tidyUp();
  process.stderr.write(`\n${why}\n`);
  process.exit(1);
}
