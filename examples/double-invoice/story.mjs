// The whole story: what would have been said before it, three acts, each on a fresh SQLite file with pages of its own, then what they came to.
import { setTimeout as delay } from "node:timers/promises";
import { withoutKey } from "./act-1-without-key.mjs";
import { withKey } from "./act-2-with-key.mjs";
import { killedWorker } from "./act-3-killed-worker.mjs";
import { placements } from "./placements.mjs";
import { beforeItHappened } from "./prologue.mjs";
import { bold, dim, green, print, red } from "./terminal.mjs";

// Whoever only reads along is done sooner than who looks at pages.
const readingMs = 1_200;
const lookingMs = 5_000;

export async function tellStory({ folder, pace, pages, isWatched, hasPrologue }) {
  print();
  print(bold("The bug that double-invoiced 73 clients"));
  print("  A recruiter saves a placement. Bullhorn fires INSERTED and, within the same");
  print(`  second, UPDATED; each draws up an invoice. ${placements.length} placements, live, three times.`);
  print(dim(`  ${folder}`));
  print();
  /** Says where an act is seen, and gives a person the time to go there before anything happens. */
  const look = async (act) => {
    print(dim(`  Watch this act at ${pages.addressOf(act)}`));
    print();
    if (isWatched) await delay(lookingMs * pace);
  };
  if (hasPrologue) {
    await beforeItHappened({ folder, pace });
    await delay(readingMs * pace);
  }
  const acts = [];
  for (const act of [withoutKey, withKey, killedWorker]) {
    acts.push(await act({ folder, pages, look, pace }));
    await delay((isWatched ? lookingMs : readingMs) * pace);
  }
  const told = acts.map(({ drafts, ...act }) => ({ ...act, invoices: drafts.length, twice: invoicedTwice(drafts) }));
  printSummary(told);
  checkSummary(told);
}

function invoicedTwice(drafts) {
  const invoicesOf = (id) => drafts.filter(({ metadata }) => metadata.placementId === id).length;
  return placements.filter(({ id }) => invoicesOf(id) > 1).length;
}

function printSummary(acts) {
  print(bold("  act                         webhooks   runs   invoices   invoiced twice"));
  acts.forEach(({ what, webhooks, runs, invoices, twice }, i) => {
    const cells = [String(webhooks).padStart(8), String(runs).padStart(6), String(invoices).padStart(10)].join(" ");
    const verdict = `${twice} clients`.padStart(16);
    print(`  ${i + 1} ${what.padEnd(25)} ${cells} ${twice > 0 ? red(verdict) : green(verdict)}`);
  });
  print();
}

/** The story is also a test: it must not end well when it did not. */
function checkSummary([first, ...keyed]) {
  const count = placements.length;
  const isTwice = first.runs === 2 * count && first.invoices === 2 * count && first.twice === count;
  const isOnce = ({ runs, invoices, twice }) => runs === count && invoices === count && twice === 0;
  if (!isTwice || !keyed.every(isOnce))
    throw new Error("The numbers above are not what Idem promises: please report it.");
}
