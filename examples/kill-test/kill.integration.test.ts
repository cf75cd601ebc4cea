// A worker process is killed at moments that a seed plans (proof/seeds.json, or KILL_SEED=<seed>) while runs of three steps are in flight
// and duplicates keep arriving. What it wrote to plain files before it died, and what the store says afterwards, must agree.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import seeds from "../../proof/seeds.json" with { type: "json" };
import { chanceOf } from "./chance.mjs";
import { type Effect, type Evidence, gatherEvidence } from "./evidence.ts";
import { type End, type Task, WorkerLife } from "./worker-life.ts";

const seed = Number(process.env.KILL_SEED ?? seeds.crash.examples);
const folder = mkdtempSync(join(tmpdir(), "idem-kill-test-"));
const finishWithinMs = 30_000;

/** When a process ends: while it starts, after so many lines of deliveries or effects, or in the middle of steps that hang. */
type Kill = { readonly at: "start" } | { readonly at: "deliveries" | "effects" | "inside"; readonly count: number };

function planKills(): Kill[] {
  const chance = chanceOf(seed);
  const upTo = (max: number) => Math.floor(chance() * max);
  const kills: Kill[] = [];
  for (let i = 0; i < 5; i++) {
    kills.push(i === 0 ? { at: "start" } : { at: "deliveries", count: 1 + upTo(300) });
    kills.push({ at: "effects", count: 1 + upTo(150) });
    kills.push({ at: "inside", count: 1 + upTo(40) });
  }
  return kills
    .map((kill) => ({ kill, rank: chance() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ kill }) => kill);
}

async function live(kill: Kill, life: number): Promise<void> {
  const stallAfter = kill.at === "inside" ? kill.count : null;
  const worker = new WorkerLife({ folder, seed, life, stallAfter, deliveriesMax: null });
  if (kill.at === "deliveries") await worker.untilDeliveries(kill.count);
  if (kill.at === "effects") await worker.untilEffects("", kill.count);
  if (kill.at === "inside") await worker.untilEffects("stall", 1);
  expect(await worker.end("SIGKILL")).toMatchObject({ signal: "SIGKILL", errors: "" });
}

const kills = planKills();
const lastLife: Task = { folder, seed, life: kills.length + 1, stallAfter: null, deliveriesMax: 40 };
let evidence: Evidence;
let lastEnd: End;

beforeAll(async () => {
  console.log(`KILL_SEED=${seed}: ${kills.map((kill) => Object.values(kill).join(" ")).join(", ")}`);
  for (const [i, kill] of kills.entries()) await live(kill, i + 1);
  const last = new WorkerLife(lastLife);
  const patience = setTimeout(() => last.end("SIGKILL"), finishWithinMs);
  lastEnd = await last.ended;
  clearTimeout(patience);
  evidence = await gatherEvidence(folder);
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stepOf = ({ run, step }: Effect) => `${run} ${step}`;

test("the worker was killed often, with steps under way and duplicates among what it had accepted", () => {
  expect(kills.length).toBeGreaterThanOrEqual(12);
  const resolved = new Set(
    evidence.effects.filter(({ what }) => what === "resolved").map((e) => `${stepOf(e)} ${e.life}`),
  );
  const cutOff = evidence.effects.filter((e) => e.what === "enter" && !resolved.has(`${stepOf(e)} ${e.life}`));
  expect(new Set(cutOff.map(({ life }) => life)).size).toBeGreaterThanOrEqual(5);
  const kinds = new Set([...evidence.acknowledged.values()].map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(["duplicate-event", "duplicate-key", "started"]);
});

test("no acknowledged event is lost, and its order was carried out", () => {
  const stored = new Map(evidence.events.map((event) => [event.internalId, event]));
  const completed = new Map(evidence.runs.map((run) => [run.id, run.output]));
  for (const [n, { order, eventId, runId }] of evidence.acknowledged) {
    expect(stored.get(eventId)?.data, `delivery ${n}`).toEqual({ order, delivery: n });
    expect(completed.get(runId), `delivery ${n}`).toEqual({ order });
  }
  // The last life sent again whatever an earlier one had no answer for.
  expect([...evidence.intents].filter((n) => !evidence.acknowledged.has(n))).toEqual([]);
});

test("no key runs twice: one run for each order, and no order's steps in two runs", () => {
  const orders = [...new Set([...evidence.acknowledged.values()].map(({ order }) => order))];
  const keys = evidence.runs.map(({ key }) => Number(key));
  expect(keys.sort((a, b) => a - b)).toEqual(orders.sort((a, b) => a - b));
  const runsOf = new Map<number, Set<string>>();
  for (const { order, run } of evidence.effects) runsOf.set(order, (runsOf.get(order) ?? new Set()).add(run));
  expect([...runsOf].filter(([, runs]) => runs.size !== 1)).toEqual([]);
});

test("no step is entered again once the code that awaited it went on", () => {
  const resolved = new Set<string>();
  for (const effect of evidence.effects) {
    if (effect.what === "enter") expect(resolved, `entered in life ${effect.life}`).not.toContain(stepOf(effect));
    if (effect.what === "resolved") resolved.add(stepOf(effect));
  }
});

test("no step is entered again once it is recorded: the life whose value the store kept is the last that entered it", () => {
  const lastEntered = new Map<string, number>();
  const timesEntered = new Map<string, number>();
  for (const effect of evidence.effects.filter(({ what }) => what === "enter")) {
    lastEntered.set(stepOf(effect), effect.life);
    const inLife = `${stepOf(effect)} ${effect.life}`;
    timesEntered.set(inLife, (timesEntered.get(inLife) ?? 0) + 1);
  }
  for (const run of evidence.runs) {
    for (const { name, output } of run.timeline) {
      expect(lastEntered.get(`${run.id} ${name}`), `${run.id} ${name}`).toBe(output.life);
    }
  }
  expect([...timesEntered].filter(([, count]) => count > 1)).toEqual([]);
});

test("nothing is stuck: every run has its three steps and is completed within 30 s of the last start", () => {
  // It ends by itself once every run has ended, and is killed when the 30 s are over.
  expect(lastEnd).toEqual({ code: 0, signal: null, errors: "" });
  for (const run of evidence.runs) {
    expect(run.state, run.id).toBe("completed");
    const steps = run.timeline.map(({ name, state }) => `${name} ${state}`);
    expect(steps.sort(), run.id).toEqual(["charge completed", "reserve completed", "ship completed"]);
  }
});

test("every stored event has one decision, and every duplicate's decision names the run that won", () => {
  const winners = new Map(evidence.runs.map((run) => [Number(run.key), run.id]));
  let startedCount = 0;
  for (const { internalId, id, data, duplicateOf, decisions } of evidence.events) {
    expect(decisions, `event ${id}`).toHaveLength(1);
    const [decision] = decisions;
    expect(decision!.runId, `event ${id}`).toBe(winners.get(data.order));
    if (decision!.kind === "started") startedCount++;
    else expect(decision!.kind).toBe(duplicateOf === null ? "duplicate-key" : "duplicate-event");
    expect(decision!.eventId).toBe(internalId);
  }
  expect(startedCount).toBe(evidence.runs.length);
  for (const [n, { order, runId }] of evidence.acknowledged) {
    expect(runId, `the answer to delivery ${n}`).toBe(winners.get(order));
  }
});
