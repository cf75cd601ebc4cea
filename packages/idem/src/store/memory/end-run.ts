// A run ends once. In the same step its job, waits and cancelling rules go, its keys are settled or given back, and runs that wait
// for it wake.

import { singletonScope } from "../../flow/singleton/plan.ts";
import { functionScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { Outcome } from "../../model/step.ts";
import type { WokenRun } from "../advance.ts";
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
  tables.jobs.delete(runId);
  tables.waits.delete(runId);
  tables.cancelRules.delete(runId);
  for (const key of ended.keys) settleKey(tables, ended, key, end.releaseKey);
  letGoOfSingleton(tables, ended);
  const outcome = endOutcome(ended)!;
  return tables.findWaits((wait) => wait.childRunId === runId).map((wait) => endWait(tables, at, wait, outcome));
}

/** What waiting for this run gives; null while it is open. */
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
