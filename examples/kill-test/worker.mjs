// One life of the worker: receives webhooks, runs three steps for each order, and writes down what it does as it does it.
// Lines are appended by one system call each, so they are whole, in order, and outlive the process.
//
//   effects.txt   enter | leave | resolved | stall, with run, step, order and the number of this life
//   sends.txt     intent n                     about to send delivery n
//                 ack n order event kind run   send() has answered
import { existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Idem } from "idem";
import { chanceOf } from "./chance.mjs";
import { deliveryOf } from "./deliveries.mjs";

const { folder, seed, life, stallAfter, deliveriesMax } = JSON.parse(process.argv[2]);
const chance = chanceOf(seed, life);
const effects = openSync(join(folder, "effects.txt"), "a");
const sendsPath = join(folder, "sends.txt");
const sent = existsSync(sendsPath) ? readFileSync(sendsPath, "utf8").split("\n").slice(0, -1) : [];
const sends = openSync(sendsPath, "a");

// Without the test that started it this process has no reason to live.
process.on("disconnect", () => process.exit(1));

// ------------------------------------------------------------------------------------------------ three steps

// The radar warns of ids that deliveries share, once a process has run for long enough. That is no complaint about a kill.
const idem = new Idem({ id: "shop", store: `sqlite:${join(folder, "idem.db")}`, runsInFlight: 8, radar: false });
let entered = 0;

idem.createFunction(
  // Killed fifteen times within seconds, which is nobody's step: entered again at once, and parked never.
  { id: "fulfil", retries: 0, idempotency: "event.data.order", entries: { max: 1_000, delay: 0 } },
  [{ event: "order/paid" }, { event: "order/updated" }],
  async ({ event, step, runId }) => {
    const { order } = event.data;
    for (const name of ["reserve", "charge", "ship"]) {
      const note = (what) => writeSync(effects, `${what} ${runId} ${name} ${order} ${life}\n`);
      await step.run(name, async () => {
        note("enter");
        if (++entered > stallAfter) {
          note("stall");
          await new Promise(() => {});
        }
        await delay(1 + chance() * 6);
        note("leave");
        return { life };
      });
      note("resolved");
    }
    return { order };
  },
);

// ------------------------------------------------------------------------------------------------ deliveries

const numbers = (what) => sent.filter((line) => line.startsWith(what)).map((line) => Number(line.split(" ")[1]));
const acknowledged = new Set(numbers("ack"));
const unanswered = [...new Set(numbers("intent"))].filter((n) => !acknowledged.has(n));
let next = Math.max(-1, ...numbers("intent")) + 1;
let isStopping = false;
const underWay = new Set();

async function deliver(n) {
  const { order, event } = deliveryOf(seed, n);
  writeSync(sends, `intent ${n}\n`);
  const { ids, decisions } = await idem.send(event);
  writeSync(sends, `ack ${n} ${order} ${ids[0]} ${decisions[0].kind} ${decisions[0].runId}\n`);
}

async function deliverAll() {
  for (let count = 0; count < deliveriesMax && !isStopping; count++) {
    const delivering = deliver(unanswered.shift() ?? next++).finally(() => underWay.delete(delivering));
    underWay.add(delivering);
    if (underWay.size >= 16) await Promise.race(underWay);
    await delay(1 + chance() * 2);
  }
  // What earlier lives left without an answer is always sent again, however many those are.
  while (unanswered.length > 0 && !isStopping) await deliver(unanswered.shift());
  await Promise.all(underWay);
}

process.on("SIGTERM", () => {
  isStopping = true;
});

await idem.start();
process.send("started");
await deliverAll();
if (!isStopping) {
  for (let before; ; ) {
    const runs = await idem.runs.list({ limit: 1_000, ...(before === undefined ? {} : { before }) });
    if (runs.length === 0) break;
    for (const run of runs) await idem.runs.wait(run.id);
    before = runs.at(-1).id;
  }
}
await idem.stop();
process.exit(0);
