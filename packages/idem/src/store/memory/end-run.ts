// A run ends once. In the same step its job and waits go, its key is settled or given back, and runs that wait for it wake.
import { functionScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { WokenRun } from "../store.ts";
import { endOutcome } from "./add-waits.ts";
import { endWait } from "./end-wait.ts";
import { runOf } from "./show.ts";
import type { Moment, RunRow, Tables } from "./tables.ts";

export interface RunEnd {
  readonly state: EndState;
  readonly result: string;
  readonly releaseKey: boolean;
  /** The fence it was ended with; null when a person cancelled it. */
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
  settleKey(tables, ended, end.releaseKey);
  const outcome = endOutcome(ended)!;
  return tables.findWaits((wait) => wait.childRunId === runId).map((wait) => endWait(tables, at, wait, outcome));
}

function settleKey(tables: Tables, run: RunRow, release: boolean): void {
  const claim = run.key === null ? null : tables.claim(functionScope(run.fn), run.key);
  if (claim === null || claim.holder !== run.id) return;
  // A key that a person released meanwhile stays free.
  const state = release || claim.state === "released" ? "released" : "settled";
  tables.putClaim({ ...claim, held: false, state });
}
