// One of several processes over one PostgreSQL: executes functions, makes the calls it is asked for, and watches runs for the
// clients that made them.
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { Chance } from "./chance.ts";
import { loadNode } from "./engine.ts";
import { defineFunctions, tellingSteps } from "./functions.ts";
import { connectLedger } from "./ledger-client.ts";
import { makeCall } from "./make-call.ts";
import { defineNodeFunctions } from "./node-functions.ts";
import type { FromNode, NodeLife, ToNode } from "./node-messages.ts";
import { watchRun } from "./watch-run.ts";
import { eventOf } from "./workload.ts";

const mix = "nodes";
const life: NodeLife = JSON.parse(process.argv[2]!);
const { seed } = life;
const chance = new Chance(seed, "node", life.node, life.life);
const bornAt = Date.now() - process.uptime() * 1_000;

const say = (message: FromNode): void => {
  if (process.connected) process.send!(message);
};
// Without the process that started it this one has no reason to live.
process.on("disconnect", () => process.exit(1));

const [engine, ledger] = await Promise.all([loadNode(life.engine), connectLedger(life.folder, life.node)]);
Object.assign(engine.limits, life.pace);
ledger.tell(["life", life.life, bornAt]);

// An engine trusts its lease for three quarters of the term, and looks twice at its clock before it enters a step: when it asks whether
// it may, and for the time. A process frozen between that and the step for as long as the last quarter enters it too late, and
// no engine could know.
let looks: readonly [number, number] = [0, 0];
const monoMs = (): number => {
  looks = [looks[1], performance.now()];
  return looks[1];
};
const isLate = (): boolean => performance.now() - looks[0] > life.pace.leaseTermSharedMs / 4;

const isAway = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "STORE_UNAVAILABLE";
// The store says the same when a statement of its own is at fault; that would be a defect.
const faultWords = /terminat|ECONN|EPIPE|timeout|closed|shut|starting up|recovery|standby|not queryable|connection/i;
const isOutage = (facts: unknown): facts is { readonly reason: string } =>
  (facts as { kind?: unknown } | null)?.kind === "store.unreachable";
const isOfFaults = (part: unknown): boolean =>
  (isAway(part) && faultWords.test((part as Error).message)) || (isOutage(part) && faultWords.test(part.reason));
const complain = (...told: readonly unknown[]): void => {
  const text = told.map((each) => (typeof each === "string" ? each : inspect(each))).join(" ");
  if (told.some(isOfFaults)) say({ kind: "away" });
  // Failures that functions make on purpose are logged as they would be in service.
  else if (!/as planned|is taken over/.test(text)) say({ kind: "complains", text });
};
const idem = new engine.Idem({
  id: "torture",
  store: life.store,
  platform: { ...engine.nodePlatform, monoMs },
  runsInFlight: 64,
  logger: { debug: () => {}, info: () => {}, warn: () => {}, error: complain },
});
const steps = tellingSteps(ledger, isLate);
defineFunctions(idem, ledger, steps);
defineNodeFunctions(idem, ledger, { steps, onWorking: (count) => say({ kind: "working", count }) });

/** A client that asks until it is answered. */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (!isAway(error)) throw error;
      await delay(chance.int(50, 250));
    }
  }
}

// An event that is sent again and again is work for all: those who wait for long are answered seldom.
const pauseMs = (tries: number): number => Math.min(1_000, chance.int(20, 100) * 2 ** Math.min(tries, 10));
const watched = new Set<string>();

async function watch(runId: string, call: number, index: number): Promise<void> {
  if (watched.has(runId)) return;
  watched.add(runId);
  await watchRun({ idem, ledger, chance, ask, pauseMs }, runId, eventOf(seed, call, index, mix));
  watched.delete(runId);
  say({ kind: "ended", runId });
}

async function call(number: number): Promise<void> {
  try {
    const made = await makeCall(idem, ledger, { seed, call: number, mix });
    say({ kind: "answered", call: number, ...made });
    await Promise.all(made.runs.map(([runId, index]) => watch(runId, number, index)));
  } catch (error) {
    if (!isAway(error)) throw error;
    say({ kind: "failed", call: number });
  }
}

/** Also the runs that no client asked for: receipts, invoked ones, ticks. */
async function finish(): Promise<void> {
  await ask(() => idem.functions.pause("clock"));
  for (;;) {
    const open = await Promise.all(
      (["running", "queued", "waiting"] as const).map((state) => ask(() => idem.runs.list({ state, limit: 1_000 }))),
    );
    if (open.flat().length === 0) break;
    for (const { id } of open.flat()) await ask(() => idem.runs.wait(id));
  }
  say({ kind: "finished" });
}

async function stop(): Promise<void> {
  await idem.stop();
  process.exit(0);
}

async function hear(message: ToNode): Promise<void> {
  switch (message.kind) {
    case "call":
      return call(message.call);
    case "watch":
      return watch(message.runId, message.call, message.index);
    case "finish":
      return finish();
    case "stop":
      return stop();
  }
}

/** As a host whose processes do not stay calls it: again and again, whatever became of the last time. */
async function sweepOn(): Promise<never> {
  for (;;) {
    try {
      await idem.sweep({ budget: "3s" });
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    await delay(chance.int(20, 300));
  }
}

if (life.sweeps) void sweepOn();
else await ask(() => idem.start());
process.on("message", (message: ToNode) => void hear(message));
say({ kind: "started" });
