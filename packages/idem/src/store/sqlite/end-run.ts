// A run ends once. Its job and waits go, its key is settled or given back, and whoever waits for it is woken,
// all in the transaction that says so.
import { functionScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { WokenRun } from "../store.ts";
import { endWaitAndWake } from "./end-wait.ts";
import { type WaitRow, waitColumns } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

const endRunSql = `
  update runs set ended_state = ?, result = ?, ended_at = ?, ended_fence = ?
   where env = ? and id = ? and ended_state is null
  returning fn, key, holds_key`;

const deleteWaitsSql = "delete from waits where env = ? and run_id = ?";

const closeClaimSql = `
  update claims set state = ?, held = 0
   where n = ? and holder = ? and state = 'in-flight'`;

const waitsForChildSql = `
  select ${waitColumns}
    from waits indexed by waits_by_child where env = ? and child_run_id = ? order by stamp`;

export interface Ending {
  readonly state: EndState;
  readonly result: string;
  readonly fence: number | null;
  readonly releaseKey: boolean;
  /** Whether the run ever began to wait: most never do, and need no look. */
  readonly hadWaits: boolean;
}

/** The run's job is already gone: whoever ends a run takes its job away first. */
export function endRun(tx: Transaction, env: string, runId: string, ending: Ending): WokenRun[] {
  const { connection, at } = tx;
  const run = connection.one<{ fn: string; key: string | null; holds_key: number }>(
    endRunSql,
    ending.state,
    ending.result,
    at.now,
    ending.fence,
    env,
    runId,
  );
  if (run === undefined) return [];
  if (ending.hadWaits) connection.run(deleteWaitsSql, env, runId);
  // That a key's run has ended is read from the run. The claim lies on a page that nothing else
  // of this commit writes, so it is touched only when it must change: a page less to write for every run.
  if (run.key !== null && (ending.releaseKey || run.holds_key === 1)) {
    const state = ending.releaseKey ? "released" : "settled";
    const n = tx.claims.find(env, functionScope(run.fn), run.key);
    if (n !== undefined) connection.run(closeClaimSql, state, n, runId);
  }
  if (!tx.known.mayHaveParent(env, runId)) return [];
  const outcome = { kind: ending.state === "completed" ? "value" : "error", json: ending.result } as const;
  const woken: WokenRun[] = [];
  for (const wait of connection.all<WaitRow>(waitsForChildSql, env, runId)) {
    const parent = endWaitAndWake(tx, env, wait, outcome);
    if (parent !== null) woken.push(parent);
  }
  return woken;
}
