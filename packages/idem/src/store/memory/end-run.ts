// A run ends once. In the same step its job, waits and cancelling rules go, its keys are settled or given back, and runs that wait
// for it wake.

import { singletonScope } from "../../flow/singleton/plan.ts";
import { functionScope } from "../../model/claim.ts";
import { emptySketch, mergeSketches, sketchOf } from "../../model/duration-sketch.ts";
import type { EndState } from "../../model/run.ts";
import type { Outcome } from "../../model/step.ts";
import type { WokenRun } from "../advance.ts";
import { endSteps, floorTo } from "../ends.ts";
import { endWait } from "./end-wait.ts";
import { runOf } from "./show.ts";
import type { Moment, RunRow, Tables } from "./tables.ts";

export interface RunEnd {
  readonly state: EndState;
  readonly result: string;
  readonly releaseKey: boolean;
  /** The fence it was ended with; null when it was cancelled. */
  readonly fence: number | null;
}

export function endRun(tables: Tables, at: Moment, runId: string, end: RunEnd): WokenRun[] {
  const ended: RunRow = {
    ...runOf(tables, runId),
    endState: end.state,
    result: end.result,
    endedAt: at.now,
    endedFence: end.fence,
  };
  tables.runs.put(runId, ended);
  countEnd(tables, at.now, ended);
  tables.jobs.delete(runId);
  tables.waits.delete(runId);
  tables.cancelRules.delete(runId);
  for (const key of ended.keys) settleKey(tables, ended, key, end.releaseKey);
  letGoOfSingleton(tables, ended);
  const outcome = endOutcome(ended)!;
  return tables.findWaits((wait) => wait.childRunId === runId).map((wait) => endWait(tables, at, wait, outcome));
}

function countEnd(tables: Tables, now: number, { fn, endState, createdAt, startedAt }: RunRow): void {
  const one = (state: EndState) => (endState === state ? 1 : 0);
  const took = startedAt === null ? emptySketch : sketchOf([Math.max(0, now - startedAt)]);
  for (const step of endSteps) {
    const at = floorTo(now, step);
    const before = tables.endCounts.get(`${step}\n${at}\n${fn}`);
    tables.endCounts.put(`${step}\n${at}\n${fn}`, {
      step,
      at,
      fn,
      completed: (before?.completed ?? 0) + one("completed"),
      failed: (before?.failed ?? 0) + one("failed"),
      cancelled: (before?.cancelled ?? 0) + one("cancelled"),
      oldest: Math.min(before?.oldest ?? createdAt, createdAt),
      took: before === undefined ? took : mergeSketches([before.took, took]),
    });
  }
}

/** The outcome of a wait for this run; null while it is open. */
export function endOutcome(run: RunRow): Outcome | null {
  if (run.endState === null) return null;
  return { kind: run.endState === "completed" ? "value" : "error", json: run.result ?? "null" };
}

function settleKey(tables: Tables, run: RunRow, key: string, release: boolean): void {
  const claim = tables.claim(functionScope(run.fn), key);
  if (claim === null || claim.holder !== run.id) return;
  // A key that a person released meanwhile stays free.
  const state = release || claim.state === "released" ? "released" : "settled";
  tables.putClaim({ ...claim, held: false, state });
}

function letGoOfSingleton(tables: Tables, run: RunRow): void {
  const claim = run.singleton === null ? null : tables.claim(singletonScope(run.fn), run.singleton);
  if (claim === null || claim.holder !== run.id) return;
  const state = claim.state === "released" ? "released" : "settled";
  tables.putClaim({ ...claim, held: false, state });
}
