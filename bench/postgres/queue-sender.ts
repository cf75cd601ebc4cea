// Sends jobs that others execute: a client that is never started has no lease, so jobs it accepts stand in the queue. It sends as many
// as have begun by the others' word, so the line is always as long.
import { Idem } from "../engine.ts";
import type { QueueAsked, QueueSaid } from "./held.ts";

const [store] = process.argv.slice(2);
const idem = new Idem({ id: "bench", store: store! });
idem.createFunction({ id: "job" }, { event: "bench/job" }, () => null);
const batch = 50;
const sendsAtOnce = 4;

let owed = 0;
let isStopping = false;
const sending = new Set<Promise<void>>();

function sendMore(): void {
  while (!isStopping && owed >= batch && sending.size < sendsAtOnce) {
    owed -= batch;
    const sent = send().finally(() => {
      sending.delete(sent);
      sendMore();
    });
    sending.add(sent);
  }
}

async function send(): Promise<void> {
  await idem.send(Array.from({ length: batch }, () => ({ name: "bench/job", data: {} })));
}

async function stop(): Promise<never> {
  isStopping = true;
  await Promise.all(sending);
  await idem.stop();
  process.exit(0);
}

// Without a parent nobody would end this.
process.once("disconnect", () => process.exit(1));
process.on("message", (asked: QueueAsked) => {
  if (asked.kind === "send") {
    owed += asked.count;
    sendMore();
  }
  if (asked.kind === "stop") void stop();
});
// Opens the store and registers, so that the first slice does not pay for it.
await idem.functions.list();
process.send!({ kind: "ready" } satisfies QueueSaid);
