// npm run bench:postgres [-- --quick] [--only beside,kinds,hot-keys,stored,profile,held] [--without-dbos] [--rounds 3] [--seconds 8]
// Idem on PostgreSQL: one process, two processes, and DBOS on the same server in the same run; runs that sleep, wait, invoke or stand in
// line beside plain ones; duplicates of one key next to distinct keys; a store with a million runs beside one with ten thousand; where the time goes; and the queue while another session holds a transaction open. One server, started here with
// fsync on; while one thing is measured nothing else runs. About thirteen minutes; --quick takes less than one, and its figures are worth
// little. Writes bench/results/postgres.json, or postgres-quick.json, or postgres-part.json when something was left out.
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, root } from "./machine.ts";
import { arePeersInstalled, compilePeers, howToInstall } from "./peers/compile.ts";
import { printCapacity } from "./postgres/capacity.ts";
import { fillStore } from "./postgres/fill.ts";
import { measureHeld } from "./postgres/held.ts";
import { measureHotKeys } from "./postgres/hot-keys.ts";
import { measureKinds } from "./postgres/kinds.ts";
import { children, type Measured, measure, runSome } from "./postgres/measured.ts";
import { printReport } from "./postgres/report.ts";
import type { Beside, Results, Stored } from "./postgres/results.ts";
import { besideSummary, storedSummary } from "./postgres/results.ts";
import { type BenchServer, startServer } from "./postgres/server.ts";
import { profileStatements } from "./postgres/statements.ts";

const parts = ["beside", "kinds", "hot-keys", "stored", "profile", "held"] as const;
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: parts.join(",") },
    "without-dbos": { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
  },
});
const isQuick = values.quick;
const rounds = Number(values.rounds ?? (isQuick ? 1 : 3));
const windowMs = Number(values.seconds ?? (isQuick ? 1.5 : 8)) * 1_000;
// The first seconds differ by the compilers of everyone in the path, and by pages that are logged whole after a checkpoint.
const warmUpMs = isQuick ? 700 : 4_000;
const loaded = { inFlight: 100, warmUpMs, windowMs };
const alone = { inFlight: 1, warmUpMs: warmUpMs / 4, windowMs: windowMs / 2 };
const isWanted = (part: string): boolean => values.only.split(",").includes(part);
const withDbos = !values["without-dbos"] && isWanted("beside");
/** The whole run, whatever hangs. */
const limitMs = 18 * 60_000;

if (withDbos) {
  if (!arePeersInstalled()) fail(`${howToInstall}\n\nOr leave DBOS out: --without-dbos`);
  compilePeers();
}

const machine = describeMachine();
const [loadBefore] = loadavg() as [number, number, number];
const server = await startServer();
const giveUp = setTimeout(() => void end(`stopped after ${limitMs / 60_000} minutes`), limitMs);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end(signal));
// The server is a child that would outlive this process.
process.once("uncaughtException", (error) => void end(error.stack ?? error.message));

try {
  const results: Results = {
    machine,
    settings: server.settings,
    options: { isQuick, rounds, warmUpMs, windowMs, loadBefore },
    ...(isWanted("beside") ? { beside: await takeBeside(server) } : {}),
    ...(isWanted("kinds") ? { kinds: await measureKinds(server, { rounds, runs: isQuick ? 300 : 3_000 }) } : {}),
    ...(isWanted("hot-keys") ? { hotKeys: await takeHotKeys(server) } : {}),
    ...(isWanted("stored") ? { stored: await takeStored(server) } : {}),
    ...(isWanted("profile") ? { profile: await takeProfile(server) } : {}),
    ...(isWanted("held") ? { held: await takeHeld(server) } : {}),
  };
  printReport(results);
  printCapacity(results);
  // A look at a part must not take the place of the whole.
  const isWhole = parts.every(isWanted) && withDbos;
  const name = isQuick ? "postgres-quick.json" : isWhole ? "postgres.json" : "postgres-part.json";
  const file = join(root, "bench", "results", name);
  mkdirSync(join(root, "bench", "results"), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  process.stderr.write(`\nWritten to ${file.slice(root.length + 1)}\n`);
} catch (error) {
  await end(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
clearTimeout(giveUp);
await server.remove();

/** One process, two processes, DBOS, in turn, on databases of their own in every round. */
async function takeBeside(server: BenchServer): Promise<Beside> {
  const taken: Beside["rounds"][number][] = [];
  for (let round = 1; round <= rounds; round++) {
    const [idem, dbos] = [`idem_${round}`, `dbos_${round}`];
    await prepare("idem", idem);
    if (withDbos) await prepare("dbos", dbos);
    const tell = (what: string) => `round ${round}/${rounds}, ${what}`;
    taken.push({
      one: await told(tell("Idem, one process"), () =>
        measure(server, { engine: "idem", database: idem, load: loaded }),
      ),
      alone: await told(tell("Idem, one at a time"), () =>
        measure(server, { engine: "idem", database: idem, load: alone }),
      ),
      two: await told(tell("Idem, two processes"), () =>
        measure(server, { engine: "idem", database: idem, processes: 2, load: loaded }),
      ),
      ...(withDbos
        ? {
            dbos: await told(tell("DBOS"), () => measure(server, { engine: "dbos", database: dbos, load: loaded })),
            dbosAlone: await told(tell("DBOS, one at a time"), () =>
              measure(server, { engine: "dbos", database: dbos, load: alone }),
            ),
          }
        : {}),
    });
  }
  // Only now: to drop one makes a checkpoint, after which every page is logged whole once.
  for (let round = 1; round <= rounds; round++) {
    await server.dropDatabase(`idem_${round}`);
    if (withDbos) await server.dropDatabase(`dbos_${round}`);
  }
  return { rounds: taken, ...besideSummary(taken) };
}

/** Some runs make the tables, and what the planner knows of them is not that they are empty. */
async function prepare(engine: "idem" | "dbos", database: string): Promise<void> {
  await server.createDatabase(database);
  await runSome(server, engine, database, 500);
  await server.inside(database, (client) => client.query("vacuum (analyze)"));
}

async function takeStored(server: BenchServer): Promise<Stored> {
  const [few, many] = isQuick ? [2_000, 20_000] : [10_000, 1_000_000];
  const fill = async (database: string, runs: number) => {
    process.stderr.write(`  filling a store with ${runs.toLocaleString("en-US")} runs… `);
    await server.createDatabase(database);
    const filled = await fillStore(server, database, runs);
    process.stderr.write(`${filled.seconds.toFixed(0)} s\n`);
    return filled;
  };
  const filled = { many: await fill("idem_many", many), few: await fill("idem_few_1", few) };
  for (let round = 2; round <= rounds; round++) await fill(`idem_few_${round}`, few);
  await server.admin.query("checkpoint");
  const taken: Stored["rounds"][number][] = [];
  for (let round = 1; round <= rounds; round++) {
    const tell = (runs: number) => `round ${round}/${rounds}, ${runs.toLocaleString("en-US")} runs stored`;
    const take = (database: string) => () => measure(server, { engine: "idem", database, load: loaded });
    const afterFew = await told(tell(few), take(`idem_few_${round}`));
    taken.push({ few: afterFew, many: await told(tell(many), take("idem_many")) });
  }
  for (let round = 1; round <= rounds; round++) await server.dropDatabase(`idem_few_${round}`);
  await server.dropDatabase("idem_many");
  return { filled, rounds: taken, ...storedSummary(taken) };
}

/** Each use of keys is measured for a part of the window: there are fifteen in a round. */
async function takeHotKeys(server: BenchServer): Promise<NonNullable<Results["hotKeys"]>> {
  const hotKeys = await measureHotKeys(server, { rounds, warmUpMs: warmUpMs / 8, windowMs: windowMs / 4 });
  for (let round = 1; round <= rounds; round++) await server.dropDatabase(`idem_hot_${round}`);
  return hotKeys;
}

async function takeProfile(server: BenchServer): Promise<NonNullable<Results["profile"]>> {
  await prepare("idem", "idem_profile");
  process.stderr.write("  statements… ");
  const profile = await profileStatements(server, { engine: "idem", database: "idem_profile", load: loaded });
  process.stderr.write(`${Math.round(profile.statementUs)} µs per run\n`);
  await server.dropDatabase("idem_profile");
  return profile;
}

async function takeHeld(server: BenchServer): Promise<NonNullable<Results["held"]>> {
  await server.createDatabase("idem_held");
  process.stderr.write("  a transaction held open… ");
  const held = await measureHeld(server, {
    database: "idem_held",
    warmUpMs,
    sliceMs: isQuick ? 1_500 : 10_000,
    before: isQuick ? 1 : 2,
    held: isQuick ? 4 : 6,
    after: 1,
  });
  process.stderr.write(`${held.leftOfThroughput.toFixed(2)} of the jobs/s left\n`);
  await server.dropDatabase("idem_held");
  return held;
}

async function told(what: string, take: () => Promise<Measured>): Promise<Measured> {
  process.stderr.write(`  ${what.padEnd(38)} `);
  const measured = await take();
  const { perSecond, p50Ms, p99Ms } = measured;
  process.stderr.write(`${Math.round(perSecond)} runs/s · ${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} ms (p50 / p99)\n`);
  return measured;
}

async function end(why: string): Promise<never> {
  for (const child of children) child.kill("SIGKILL");
  await server.remove().catch(() => {});
  return fail(`\n${why}`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
