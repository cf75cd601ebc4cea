// Act 3: the worker dies half-way, without a chance to tidy up. A new one finishes the rest, and the outside world's own
// log says what was done twice: nothing that had been recorded.
import { join } from "node:path";
import { Idem } from "idem";
import { draftInvoice } from "./draft-invoice.mjs";
import { stepsThat } from "./effects-log.mjs";
import { outsideWorld } from "./outside-world.mjs";
import { placements, webhooks } from "./placements.mjs";
import { quiet } from "./quiet.mjs";
import { bold, dim, green, print, yellow } from "./terminal.mjs";
import { killAtItsWorst, letFinish } from "./watch-worker.mjs";
import { startWorker } from "./worker-process.mjs";

const options = { id: "draft-invoice", idempotency: "event.data.placementId" };

export async function killedWorker({ folder, pages, look, pace }) {
  print(bold("Act 3 · with a key, and the worker is killed half-way"));
  print(dim("  the same function; a process of its own runs its steps, until SIGKILL"));
  print();
  const worldFolder = join(folder, "act-3");
  const store = `sqlite:${folder}/act-3.db`;
  // Never 0: a worker that is done before anybody looks cannot be killed half-way.
  const latencyMs = Math.max(12, 60 * pace);
  const world = outsideWorld(worldFolder, { latencyMs });
  const task = { worldFolder, store, options, latencyMs };
  await acceptWebhooks(store, world);

  // One process has the file at a time; whichever it is shows the pages.
  const showPages = (port) => pages.showAt("act-3", port);
  await look("act-3");
  const first = startWorker(task, showPages);
  await killAtItsWorst(first, world.effects);
  const effectsBefore = world.effects.read();
  const left = await readStore(store);
  print();
  print(yellow(`  SIGKILL. Worker ${first.pid} is gone. What it leaves in the store:`));
  print(`  ${left.steps.length} of ${placements.length * 3} steps recorded; of the invoices,`);
  print(`  ${left.count("completed")} are done, ${left.count("running")} in flight, ${left.count("queued")} not begun`);
  print();

  const second = startWorker(task, showPages);
  await letFinish(second, world.effects);
  const effectsAfter = world.effects.read().slice(effectsBefore.length);
  const drafts = world.stripe.invoices.list();
  const { runs } = await readStore(store);
  const reader = new Idem({ id: "agency", store, logger: quiet });
  draftInvoice(reader, options, world);
  pages.show("act-3", reader);
  print();
  print(`  Worker ${second.pid} did the rest. What Bullhorn, Stripe and the approval queue saw:`);
  print(`  ${drafts.length} drafts in Stripe, ${world.approvals.list().length} rows in the approval queue`);
  showRepeats(effectsBefore, effectsAfter, left.steps);
  print();
  print(green(`  Killed half-way, and still ${runs.length} clients, ${drafts.length} invoices.`));
  print();
  return { what: "with a key, worker killed", webhooks: webhooks.length, runs: runs.length, drafts };
}

/** Takes in all webhooks and executes nothing: the runs wait in the store for whoever comes. */
async function acceptWebhooks(store, world) {
  const idem = new Idem({ id: "agency", store, logger: quiet });
  draftInvoice(idem, options, world);
  try {
    const { ids, decisions } = await idem.send(webhooks.map(({ event }) => event));
    const count = (wanted) => decisions.filter(({ kind }) => kind === wanted).length;
    print(`  ${ids.length} webhooks accepted, ${count("duplicate-key")} duplicates suppressed:`);
    print(`  ${count("started")} runs wait in the store for a worker`);
    print();
  } finally {
    await idem.stop();
  }
}

async function readStore(store) {
  const idem = new Idem({ id: "agency", store, logger: quiet });
  try {
    const runs = await idem.runs.list({ limit: 1_000 });
    const steps = [];
    for (const { id, key } of runs) {
      const { timeline } = await idem.runs.get(id);
      for (const { name, state } of timeline) if (state === "completed") steps.push(`${name} ${key}`);
    }
    return { runs, steps, count: (wanted) => runs.filter(({ state }) => state === wanted).length };
  } finally {
    await idem.stop();
  }
}

function showRepeats(effectsBefore, effectsAfter, recorded) {
  const enteredBefore = new Set(stepsThat("entered", effectsBefore));
  const enteredTwice = stepsThat("entered", effectsAfter).filter((step) => enteredBefore.has(step));
  const repeated = enteredTwice.filter((step) => recorded.includes(step));
  if (repeated.length > 0) throw new Error(`Recorded steps were entered again: ${repeated.join(", ")}`);
  print(`  0 of the ${recorded.length} recorded steps were entered again`);
  print(`  ${enteredTwice.length} steps were under way at the kill. How far they had come nobody can know,`);
  print("  so they were entered again; their destination keys made that safe:");
  const found = new Set(stepsThat("found", effectsAfter));
  for (const step of enteredTwice) {
    const [name, placementId] = step.split(" ");
    const answer = found.has(step) ? green(foundFirst[name]) : dim("nothing had come of it yet");
    print(`  placement ${placementId}  ${name.padEnd(19)}  ${answer}`);
  }
}

const foundFirst = {
  "create-stripe-draft": "Stripe answered with its first draft",
  "queue-for-approval": "the queue kept its first row",
};
