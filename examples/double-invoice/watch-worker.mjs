// Following a worker by what it does to the outside world, as anybody could.
import { setTimeout as delay } from "node:timers/promises";
import { stepsThat } from "./effects-log.mjs";
import { placements } from "./placements.mjs";
import { finish, showProgress } from "./terminal.mjs";

const lookEveryMs = 5;

export async function killAtItsWorst(worker, effects) {
  await watch(worker, effects, async () => {
    if (!isAtItsWorst(effects.read())) return;
    // Frozen, it cannot get over the moment while we make sure.
    worker.freeze();
    await delay(1);
    if (isAtItsWorst(effects.read())) worker.kill();
    else worker.thaw();
  });
  const { code, signal } = await worker.ended;
  if (signal !== "SIGKILL")
    throw new Error(`The first worker ended by itself (code ${code}) before it could be killed.`);
}

export async function letFinish(worker, effects) {
  await watch(worker, effects, async () => {});
  const { code, signal } = await worker.ended;
  if (code !== 0) throw new Error(`The second worker did not finish (${signal ?? `code ${code}`}).`);
}

async function watch(worker, effects, onLook) {
  const show = () => {
    const steps = new Set(stepsThat("left", effects.read()));
    const done = [...steps].filter(isLastStep).length;
    showProgress("invoices", done, placements.length, `${steps.size} steps done, worker ${worker.pid}`);
  };
  while (worker.isAlive()) {
    show();
    await onLook();
    await delay(lookEveryMs);
  }
  show();
  finish();
}

const isLastStep = (step) => step.startsWith("queue-for-approval");

/** Half is done, and Stripe has made a draft while its answer is still on the way: the moment everybody fears. */
function isAtItsWorst(effects) {
  const left = new Set(stepsThat("left", effects));
  const isHalfDone = [...left].filter(isLastStep).length >= placements.length / 2;
  return isHalfDone && stepsThat("created", effects).some((step) => !left.has(step));
}
