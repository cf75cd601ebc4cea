// The process whose power is cut: sends events, runs steps, and says what it was promised by one write per promise to a file
// the trace can see. Each fact is a line: what must be there, and the hash of what it must be.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { loadEngine } from "./engine.ts";
import { hashOf } from "./records.ts";

export interface PowerLife {
  readonly folder: string;
  readonly engine: string;
  readonly runs: number;
  readonly synchronous: "FULL" | "NORMAL";
}

export type Promised =
  | { readonly kind: "event"; readonly id: string; readonly hash: string }
  | { readonly kind: "step"; readonly run: string; readonly step: string; readonly hash: string }
  | { readonly kind: "end"; readonly run: string; readonly hash: string };

// A few at once share commits, as they do in service; one alone never would.
const inFlight = 3;
// Enough to pass a checkpoint of the log now and then.
const padding = "x".repeat(2_000);

const life: PowerLife = JSON.parse(process.argv[2]!);
const { Idem, openThreadStore, nodePlatform } = await loadEngine(life.engine);
const acks = openSync(join(life.folder, "acks"), "w");
const promise = (promised: Promised): void => {
  writeSync(acks, `${JSON.stringify(promised)}\n`);
};

const store = await openThreadStore({
  path: join(life.folder, "idem.db"),
  owner: "power",
  platform: nodePlatform,
  ...(life.synchronous === "NORMAL" ? { synchronous: "NORMAL" } : {}),
});
const idem = new Idem({ id: "power", store });
idem.createFunction({ id: "work", idempotency: "event.data.n" }, { event: "work" }, async ({ event, step, runId }) => {
  for (const name of ["first", "second"]) {
    const value = await step.run(name, () => ({ n: event.data.n, name }));
    promise({ kind: "step", run: runId, step: name, hash: hashOf(JSON.stringify(value)) });
  }
  if (event.data.n % 10 === 0) await step.sleep("nap", 10);
  return event.data.n;
});
await idem.start();

let next = 0;
async function work(): Promise<void> {
  for (let n = next++; n < life.runs; n = next++) {
    const data = { n, padding };
    const { ids, decisions } = await idem.send({ name: "work", id: `work-${n}`, data });
    promise({ kind: "event", id: ids[0]!, hash: hashOf(JSON.stringify(data)) });
    const run = decisions[0]!.runId!;
    const { output } = await idem.runs.wait(run);
    promise({ kind: "end", run, hash: hashOf(JSON.stringify(output)) });
  }
}
await Promise.all(Array.from({ length: inFlight }, work));
await idem.stop();
await store.close();
