// A run ends once. Its job and waits go, its key is settled or given back, and whoever waits for it is woken,
// all in the transaction that says so.
import { type ClaimState, functionScope, singletonScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { WokenRun } from "../advance.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import { forgetRulesSql } from "./cancel-rules.ts";
import { endWaitAndWake } from "./end-wait.ts";
import type { Transaction } from "./transaction.ts";

const endRunSql = `
  update runs set ended_state = ?, result = ?, ended_at = ?, ended_fence = ?
   where env = ? and id = ? and ended_state is null
  returning fn, key, holds_key, singleton, carried`;

const deleteWaitsSql = "delete from waits where env = ? and run_id = ?";

const closeClaimSql = `
  update claims set state = ?, held = 0
   where n = ? and holder = ? and state = 'in-flight'`;

const waitsForChildSql = `
  select ${waitColumns}
    from waits indexed by waits_by_child where env = ? and child_run_id = ? order by stamp`;

const keysOfBatchSql = "select key from run_events where env = ? and run_id = ? and key is not null";

interface EndedRow {
  fn: string;
  key: string | null;
  holds_key: number;
  singleton: string | null;
  carried: number | null;
}

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
  const run = connection.one<EndedRow>(endRunSql, ending.state, ending.result, at.now, ending.fence, env, runId);
  if (run === undefined) return [];
  if (ending.hadWaits) {
    connection.run(deleteWaitsSql, env, runId);
    connection.run(forgetRulesSql, env, runId);
  }
  // That a key's run has ended is read from the run. The claim lies on a page that nothing else
  // of this commit writes, so it is touched only when it must change: a page less to write for every run.
  if (ending.releaseKey || run.holds_key === 1) {
    const state = ending.releaseKey ? "released" : "settled";
    for (const key of keysOf(tx, env, runId, run)) closeClaim(tx, env, functionScope(run.fn), key, runId, state);
  }
  if (run.singleton !== null) closeClaim(tx, env, singletonScope(run.fn), run.singleton, runId, "settled");
  if (!tx.known.mayHaveParent(env, runId)) return [];
  const outcome = { kind: ending.state === "completed" ? "value" : "error", json: ending.result } as const;
  const woken: WokenRun[] = [];
  for (const wait of connection.all<WaitRow>(waitsForChildSql, env, runId)) {
    const parent = endWaitAndWake(tx, env, wait, outcome);
    if (parent !== null) woken.push(parent);
  }
  return woken;
}

/** A batch holds the keys of all events it carries. */
function keysOf(tx: Transaction, env: string, runId: string, { key, carried }: EndedRow): string[] {
  if (key !== null) return [key];
  if (carried === null) return [];
  return tx.connection.all<{ key: string }>(keysOfBatchSql, env, runId).map((row) => row.key);
}

function closeClaim(tx: Transaction, env: string, scope: string, key: string, runId: string, state: ClaimState): void {
  const n = tx.claims.find(env, scope, key);
  if (n !== undefined) tx.connection.run(closeClaimSql, state, n, runId);
}
