// npm run proof -- corpus --apps: the apps of the official SDK; -- --process: these pairs in processes of their own. Both see apps.mjs.
// npm run proof -- corpus [--only <part of a name>] [--budget <ms>] [--json]: verifies every pair of the corpus with every single adversity, and pairs of them on the mended half
// for as long as the budget says; with --databases those that write to SQLite and to a PostgreSQL of their own (--server <url> for another one). Prints what was found, what was alarmed for nothing, and what it took.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodePlatform } from "../node_modules/idem/modules/platform/node-platform.js";
import { PlayingThreads } from "../node_modules/idem/modules/verify/playing-threads.js";
import { verifyFunction } from "../node_modules/idem/modules/verify/verify-function.js";
import * as harness from "../node_modules/idem/modules/verify.js";

import { handlerPairs, isFound, verifyHalf } from "./handlers.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    budget: { type: "string", default: "0" },
    json: { type: "boolean" },
    apps: { type: "boolean" },
    process: { type: "boolean" },
    databases: { type: "boolean" },
    server: { type: "string" },
  },
});
if (values.apps || values.process) {
  const { verifyApps } = await import("./apps.mjs");
  const budgetMs = Number(values.budget === "0" ? 120_000 : values.budget);
  process.exit(
    (await verifyApps({
      only: values.only,
      budgetMs,
      isJson: values.json === true,
      isModule: values.process === true,
      server: values.server,
    }))
      ? 0
      : 1,
  );
}
const here = dirname(fileURLToPath(import.meta.url));
const corpus = values.databases ? join(here, "databases") : here;
const threads = new PlayingThreads({ platform: nodePlatform, loader: null, size: 1, answerMsMax: 30_000 });

const databases = values.databases ? await (await import("./scratch-databases.mjs")).openScratch(values.server) : null;

/** Programs that are right under these schedules, and would not be under a verifier whose deaths run a `finally`. */
const alone = [
  { name: "death-is-silent", program: "unproven/finally.mjs", only: ["die-before-effect:1", "die-after-effect:1"] },
];

async function verify(program, only = null) {
  const prepared = databases === null ? {} : { databases: await databases.next(program) };
  const functions = await threads.describe([program], prepared.databases);
  if (!Array.isArray(functions)) throw new Error(`${program} could not be loaded: ${JSON.stringify(functions)}`);
  const fn = functions.find(({ handlesEnd }) => !handlesEnd);
  const own = join(dirname(program), "event.json");
  const example = JSON.parse(readFileSync(existsSync(own) ? own : join(here, "event.json"), "utf8"));
  return verifyFunction({
    threads,
    platform: nodePlatform,
    modules: [program],
    fn,
    endHandlers: functions.filter(({ handlesEnd }) => handlesEnd).map((each) => each.fn),
    event: fn.config.triggers.some((each) => "cron" in each) ? null : example,
    budgetMs: program.endsWith("mended.mjs") ? Number(values.budget) : 0,
    only,
    ...prepared,
  });
}

function hasNodeSqlite(name) {
  const isThere = isBuiltin("node:sqlite");
  if (!isThere && !values.json) console.log(`${name.padEnd(30)} skipped: Node ${process.version} has no node:sqlite`);
  return isThere;
}

const cpuOf = { sqlite: [0, 0], postgres: [0, 0] };

const all = readdirSync(corpus, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(corpus, entry.name, "faulty.mjs")))
  .map(({ name }) => name)
  .filter((name) => values.only === undefined || values.only.some((part) => name.includes(part)))
  .filter((name) => !name.startsWith("node-sqlite") || hasNodeSqlite(name));
let worlds = 0;
const missed = [];
const alarmed = [];
const cpuBefore = process.cpuUsage();
for (const name of all) {
  const faulty = join(corpus, name, "faulty.mjs");
  const before = performance.now();
  const lines = readFileSync(faulty, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes("// ✗ "));
  const expected = lines[at].split("✗ ")[1].trim();
  const found = await verify(faulty);
  const isRight =
    found.verdict === expected &&
    found.findings.some(({ verdict, place }) => verdict === expected && place?.line === at + 2);
  if (!isRight) missed.push(name);
  const mended = await verify(join(corpus, name, "mended.mjs"));
  if (mended.verdict !== "HELD") alarmed.push(name);
  worlds += found.schedules + mended.schedules;
  const kind = cpuOf[name.startsWith("sqlite") || name.startsWith("node-sqlite") ? "sqlite" : "postgres"];
  kind[0] += performance.now() - before;
  kind[1] += found.schedules + mended.schedules;
  if (!values.json) {
    const told = `${isRight ? "found" : "MISSED"} ${found.verdict}`.padEnd(16);
    const other = mended.verdict === "HELD" ? "held" : `ALARMED ${mended.verdict} ${mended.findings[0]?.thing}`;
    console.log(`${name.padEnd(30)} ${told} ${other}   ${found.schedules} + ${mended.schedules} schedules`);
  }
}
const handlers = (databases === null ? handlerPairs() : []).filter(
  ({ name }) => values.only === undefined || values.only.some((part) => name.includes(part)),
);
for (const { name, expected } of handlers) {
  const faulty = await verifyHalf(harness, name, "faulty");
  const mended = await verifyHalf(harness, name, "mended");
  const isRight = isFound(faulty, expected);
  if (!isRight) missed.push(name);
  if (mended.verdict !== "HELD") alarmed.push(name);
  const [one, other] = [faulty, mended].map(({ functions }) => functions[0].schedules);
  worlds += one + other;
  if (!values.json) {
    const told = `${isRight ? "found" : "MISSED"} ${expected.verdict}`.padEnd(16);
    const held = mended.verdict === "HELD" ? "held" : `ALARMED ${mended.text}`;
    console.log(`${name.padEnd(30)} ${told} ${held}   ${one} + ${other} schedules`);
  }
}
for (const { name, program, only } of databases === null ? alone : []) {
  if (values.only?.some((part) => name.includes(part)) === false) continue;
  if ((await verify(join(corpus, program), only)).verdict !== "HELD") alarmed.push(name);
}
await threads.close();
await databases?.close();
const { user, system } = process.cpuUsage(cpuBefore);
const cpuMs = (user + system) / 1_000;
const pairs = all.length + handlers.length;
if (values.json) console.log(JSON.stringify({ pairs, missed, alarmed, worlds, cpuMs: Math.round(cpuMs) }));
else {
  console.log(`${pairs} pairs: ${pairs - missed.length} faults found, ${alarmed.length} false alarms`);
  console.log(
    `${worlds} worlds, ${(cpuMs / worlds).toFixed(1)} ms of processor each, ${(cpuMs / 1_000 / pairs / 2).toFixed(2)} s a program`,
  );
  if (databases !== null) {
    for (const [kind, [ms, count]] of Object.entries(cpuOf))
      if (count > 0) console.log(`${kind}: ${count} worlds, ${(ms / count).toFixed(1)} ms each, on one thread`);
  }
}
process.exitCode = missed.length + alarmed.length > 0 ? 1 : 0;
