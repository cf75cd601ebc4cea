// `npm start`: tells the double-invoice story in the terminal and shows it in the dashboard. In a terminal the pages stay up until Ctrl-C;
// elsewhere, and with --once, it ends by itself (STAY=1: not even then). KEEP=1 keeps its folder, PACE=0.2 tells it five times as fast, PROLOGUE=0 begins
// with the first act.
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { bold, finish, print } from "./terminal.mjs";
import { killWorkers } from "./worker-process.mjs";

const keep = process.env.KEEP === "1";
const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
const stays = process.env.STAY === "1" || (isTerminal && !process.argv.includes("--once"));
const pace = Number(process.env.PACE ?? 1);
const hasPrologue = process.env.PROLOGUE !== "0";
// It takes about 20 seconds, twice as long where somebody watches; a step that keeps failing would be tried for minutes, and nobody should sit through that.
const patienceMs = 120_000;

function fail(sentence, error) {
  finish();
  console.error(`\n${sentence}`);
  if (error !== undefined) console.error(error);
  process.exit(1);
}

function makeFolder() {
  try {
    return mkdtempSync(join(tmpdir(), "idem-double-invoice-"));
  } catch (error) {
    return fail(`The story needs a folder it may write to; ${tmpdir()} is not one. Set TMPDIR to another.`, error);
  }
}

if (!(pace >= 0 && pace <= 10)) fail(`PACE is a factor from 0 to 10, not "${process.env.PACE}".`);

const folder = makeFolder();
let isTold = false;
let pages = null;
process.on("exit", () => {
  if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, async () => {
    await killWorkers();
    // A store that is still open would go on writing into the folder that is removed.
    await pages?.close();
    finish();
    print("Stopped; nothing is left running.");
    // At its end, stopping it is what one is asked to do.
    process.exit(isTold ? 0 : 128 + constants.signals[signal]);
  });
}
// The reader went away (`npm start | head`): nobody is left to tell it to.
process.stdout.on("error", () => process.exit(0));
const patience = setTimeout(() => fail(`The story did not end within ${patienceMs / 1_000} seconds.`), patienceMs);

const [{ openPages }, { tellStory }] = await Promise.all([import("./pages.mjs"), import("./story.mjs")]).catch(
  (error) => fail("Idem is not built here. Run `npm ci` at the root of the repository, then try again.", error),
);
pages = await openPages().catch((error) => fail("The pages need a free port of this machine.", error));
print();
print(bold(`Watch it at ${pages.origin}`));
await tellStory({ folder, pace, pages, isWatched: stays && isTerminal, hasPrologue }).catch((error) =>
  fail("The story stopped before its end.", error),
);
clearTimeout(patience);

print(bold("What to do next"));
print("  README.md                                  twenty lines that run, and the way on");
print("  examples/double-invoice/draft-invoice.mjs  the function you just saw");
print(
  keep
    ? `  ${folder}  all that is left of the story`
    : "  KEEP=1 npm start                           keeps the SQLite files of the story",
);
print();
isTold = true;
if (stays) {
  print(bold(`The pages stay up at ${pages.origin} until Ctrl-C`));
  for (const [act, what] of [
    ["act-1", "146 runs, and what the radar makes of them"],
    ["act-2", "73 runs, each with the duplicate it answered"],
    ["act-3", "73 runs through two workers"],
  ]) {
    print(`  ${pages.addressOf(act)}  ${what}`);
  }
  print();
} else await pages.close();
