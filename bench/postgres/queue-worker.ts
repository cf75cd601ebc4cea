// Executes jobs that others sent, and times every lease. It tells how many have begun, ten times a second, so that as many are sent.

import type { LeaseAnswer, LeaseInput } from "../../packages/idem/modules/store/leases.js";
import type { Store } from "../../packages/idem/modules/store/store.js";
import { Idem, nodePlatform, openStoreAt } from "../engine.ts";
import { quantile } from "../measure.ts";
import type { QueueAsked, QueueSaid } from "./held.ts";

const [address] = process.argv.slice(2);
let begun = 0;
let told = 0;
let sliceFrom = 0;
let leases: { readonly ms: number; readonly jobs: number }[] = [];

const { store } = await openStoreAt(address!, nodePlatform);
const lease = async (input: LeaseInput): Promise<LeaseAnswer> => {
  const startedAt = performance.now();
  const answer = await store.lease(input);
  leases.push({ ms: performance.now() - startedAt, jobs: answer.jobs.length });
  return answer;
};
const timed = new Proxy(store, {
  get(target, name) {
    if (name === "lease") return lease;
    const value = target[name as keyof Store] as unknown;
    return typeof value === "function" ? value.bind(target) : value;
  },
});

const idem = new Idem({ id: "bench", store: timed });
idem.createFunction({ id: "job" }, { event: "bench/job" }, () => {
  begun++;
  return null;
});

const say = (said: QueueSaid) => process.send!(said);
process.once("disconnect", () => process.exit(1));
process.on("message", (asked: QueueAsked) => {
  if (asked.kind === "slice") {
    const full = Float64Array.from(leases.filter(({ jobs }) => jobs > 0).map(({ ms }) => ms)).sort();
    say({
      kind: "slice",
      jobs: begun - sliceFrom,
      leases: full.length,
      emptyLeases: leases.length - full.length,
      leaseP50Ms: quantile(full, 0.5),
      leaseP99Ms: quantile(full, 0.99),
    });
    leases = [];
    sliceFrom = begun;
  }
  if (asked.kind === "stop") void idem.stop().then(() => process.exit(0));
});
await idem.start();
setInterval(() => {
  if (begun > told) say({ kind: "begun", count: begun - told });
  told = begun;
}, 100).unref();
say({ kind: "ready" });
