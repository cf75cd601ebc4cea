// The process under test: owns the store, executes functions and sends events, because one process owns the file. It goes on
// where the life before it was cut off: calls without an answer are made again, runs without a seen end are watched again.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Chance } from "./chance.ts";
import { type Crash, trappedPlatform } from "./crash-point.ts";
import { loadEngine } from "./engine.ts";
import { defineFunctions } from "./functions.ts";
import { connectLedger } from "./ledger-client.ts";
import { makeCall } from "./make-call.ts";
import { watchRun } from "./watch-run.ts";
import { eventOf, type Sent } from "./workload.ts";

export interface Life {
  readonly folder: string;
  readonly engine: string;
  readonly seed: number;
  readonly life: number;
  readonly crash: Crash | null;
  /** Null lives until it is killed. Otherwise: send until so many events are acknowledged in all, finish everything, leave. */
  readonly ackedMin: number | null;
}

const callsInFlightMax = 8;
// Runs that a killed process leaves behind must be finished in the time of one life, or the backlog would grow for ever.
const openRunsMax = 120;

const life: Life = JSON.parse(process.argv[2]!);
const { folder, seed } = life;
const chance = new Chance(seed, "life", life.life);
const bornAt = Date.now() - process.uptime() * 1_000;

// Without the process that started it this one has no reason to live.
process.on("disconnect", () => process.exit(1));

const [engine, ledger] = await Promise.all([loadEngine(life.engine), connectLedger(folder)]);
ledger.tell(["life", life.life, bornAt]);
// Here lives are ended, attempts fail and the file is locked by design: words about that are as they should be. Anything else is a complaint, a
// run that is parked or does not do what it did among it.
const foreseen = [/is taken over/, /as planned/, /^\d+ more /, /^the store (is in trouble|took)/, /^The store /];
const isForeseen = (text: unknown) => foreseen.some((each) => each.test(String(text).replace(/^idem: /, "")));
const complain = (...words: unknown[]) => (isForeseen(words[0]) ? undefined : console.error(...words));
const idem = new engine.Idem({
  id: "torture",
  logger: { debug: () => {}, info: () => {}, warn: complain, error: complain },
  store: `sqlite:${join(folder, "idem.db")}`,
  platform: trappedPlatform(engine.nodePlatform, life.crash),
  runsInFlight: 64,
});
defineFunctions(idem, ledger);

// ------------------------------------------------------------------------------------------------ runs

const watched = new Map<string, Promise<void>>();
const pauseMs = () => chance.int(20, 100);

function watch(runId: string, event: Sent): void {
  if (watched.has(runId)) return;
  const watching = { idem, ledger, chance, ask: <T>(question: () => Promise<T>) => question(), pauseMs };
  const seen = watchRun(watching, runId, event).finally(() => watched.delete(runId));
  watched.set(runId, seen);
}

// ------------------------------------------------------------------------------------------------ calls

const { greeting } = ledger;
const unanswered = [...greeting.unanswered];
let next = greeting.next;
let ackedCount = greeting.ackedCount;
const calling = new Set<Promise<void>>();

async function call(number: number): Promise<void> {
  const { eventCount, runs } = await makeCall(idem, ledger, { seed, call: number });
  ackedCount += eventCount;
  for (const [runId, index] of runs) watch(runId, eventOf(seed, number, index));
}

async function makeCalls(mayGoOn: () => boolean): Promise<void> {
  while (unanswered.length > 0 || mayGoOn()) {
    if (calling.size >= callsInFlightMax) await Promise.race(calling);
    if (watched.size >= openRunsMax) await Promise.race(watched.values());
    const made = call(unanswered.shift() ?? next++).finally(() => calling.delete(made));
    calling.add(made);
    if (chance.happens(0.3)) await delay(chance.int(0, 6));
  }
  await Promise.all(calling);
}

await idem.start();
process.send!("started");
for (const [run, call, index] of greeting.unended) watch(run, eventOf(seed, call, index));

const { ackedMin } = life;
await makeCalls(() => ackedMin === null || ackedCount < ackedMin);
while (watched.size > 0) await Promise.all(watched.values());
// Runs that no client asked for end too: receipts and invoked ones.
for (const state of ["running", "queued", "waiting"] as const) {
  for (const { id } of await idem.runs.list({ state, limit: 1_000 })) await idem.runs.wait(id);
}
await idem.stop();
process.exit(0);
