// npm run proof -- corpus --process …: the pairs of Idem's own functions, served by processes of their own.
// npm run proof -- corpus --apps [--only <part of a name>] [--budget <ms>] [--json]: the pairs of apps/, each an app of the official SDK in processes of its own that are
// really killed. Prints what was found, what was alarmed for nothing, and what it took.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodePlatform } from "../node_modules/idem/modules/platform/node-platform.js";
import { serveModules } from "../node_modules/idem/modules/verify/app/app-process.js";
import { AppWorlds } from "../node_modules/idem/modules/verify/app/app-worlds.js";
import { appliesToApp, rankOfApp } from "../node_modules/idem/modules/verify/app/applies.js";
import { verifyFunction } from "../node_modules/idem/modules/verify/verify-function.js";

import { openScratch } from "./scratch-databases.mjs";

const corpus = dirname(fileURLToPath(import.meta.url));

async function verify(program, budgetMs, isModule, databases) {
  const worlds = await AppWorlds.open({
    platform: nodePlatform,
    command: [process.execPath, ...(isModule ? serveModules([program]) : [program])],
    cwd: dirname(program),
    env: process.env,
    url: new URL(isModule ? "http://127.0.0.1:1/idem/0" : "http://localhost:3000/api/inngest"),
    startMsMax: 60_000,
    databases,
  });
  try {
    const functions = await worlds.describe();
    const fn = functions.find(({ handlesEnd }) => !handlesEnd);
    const own = join(dirname(program), "event.json");
    const example = JSON.parse(readFileSync(existsSync(own) ? own : join(corpus, "event.json"), "utf8"));
    return await verifyFunction({
      threads: worlds,
      platform: nodePlatform,
      modules: [],
      fn,
      endHandlers: functions.filter(({ handlesEnd }) => handlesEnd).map((each) => each.fn),
      event: fn.config.triggers.some((each) => "cron" in each) ? null : example,
      budgetMs,
      isEveryWorldBudgeted: true,
      mends: false,
      picks: appliesToApp,
      rank: rankOfApp,
    });
  } finally {
    await worlds.close();
  }
}

/** What an app opens is told by its name. */
const hasDatabase = (name) => /^(sqlite|pg|postgres)-/.test(name);

export async function verifyApps({ only, budgetMs, isJson, isModule, server }) {
  const scratch = await openScratch(server);
  try {
    return await verifyPairs({ only, budgetMs, isJson, isModule, scratch });
  } finally {
    await scratch.close();
  }
}

async function verifyPairs({ only, budgetMs, isJson, isModule, scratch }) {
  const shelf = isModule ? corpus : join(corpus, "apps");
  const all = readdirSync(shelf, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(shelf, entry.name, "faulty.mjs")))
    .map(({ name }) => name)
    .filter((name) => only === undefined || only.some((part) => name.includes(part)));
  const missed = [];
  const alarmed = [];
  let worlds = 0;
  const startedAt = performance.now();
  for (const name of all) {
    const faulty = join(shelf, name, "faulty.mjs");
    const lines = readFileSync(faulty, "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes("// ✗ "));
    const expected = lines[at].split("✗ ")[1].trim();
    const verifyHalf = async (program) =>
      verify(program, budgetMs, isModule, hasDatabase(name) ? await scratch.next(program, dirname(program)) : []);
    const found = await verifyHalf(faulty);
    const isRight =
      found.verdict === expected &&
      found.findings.some(({ verdict, place }) => verdict === expected && place?.line === at + 2);
    if (!isRight) missed.push(name);
    const mended = await verifyHalf(join(shelf, name, "mended.mjs"));
    if (mended.verdict !== "HELD") alarmed.push(name);
    worlds += found.schedules + mended.schedules;
    if (isJson) continue;
    const seen = found.findings.map(({ verdict, place, thing }) => `${verdict} ${place?.line} ${thing}`).join("; ");
    const told = isRight ? `found ${found.verdict}` : `MISSED ${expected}: ${seen || found.verdict}`;
    const other = mended.verdict === "HELD" ? "held" : `ALARMED ${mended.verdict} ${mended.findings[0]?.thing}`;
    const counts = [found, mended].map(({ schedules, unplayed }) => `${schedules} of ${schedules + unplayed}`);
    console.log(`${name.padEnd(20)} ${told.padEnd(16)} ${other}   ${counts.join(" + ")} schedules`);
  }
  const tookMs = performance.now() - startedAt;
  if (isJson) console.log(JSON.stringify({ pairs: all.length, missed, alarmed, worlds, tookMs: Math.round(tookMs) }));
  else {
    console.log(`${all.length} apps: ${all.length - missed.length} faults found, ${alarmed.length} false alarms`);
    console.log(`${worlds} worlds, ${(tookMs / worlds / 1_000).toFixed(2)} s each`);
  }
  return missed.length + alarmed.length === 0;
}
