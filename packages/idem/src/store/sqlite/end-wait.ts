// A wait ends once: whoever deletes its row records its outcome. Timeout, match, signal and finished child all race on that
// delete, so none of them needs to know about the others.
import type { Outcome } from "../../model/outcome.ts";
import type { WokenRun } from "../advance.ts";
import type { WaitRow } from "../rows.ts";
import { waitsOfRun } from "./read-memo.ts";
import { insertWaited } from "./record-step.ts";
import type { Transaction } from "./transaction.ts";

const deleteWaitSql = "delete from waits where env = ? and run_id = ? and step_id = ? returning input";

// A leased job keeps its lease: its worker collects the news. An unleased one is due at once, unless a person is to let it go on.
const wakeJobSql = `
  update jobs set due_at = null, rank = ? where env = ? and id = ? and leased_by is null and parked_at is null`;
const selectJobSql = "select fn, leased_by, lane, parked_at from jobs where env = ? and id = ?";

/** Records the wait's outcome if the wait is still there. */
export function endWait(tx: Transaction, env: string, wait: WaitRow, outcome: Outcome): boolean {
  const ended = tx.connection.one<{ input: string | null }>(deleteWaitSql, env, wait.run_id, wait.step_id);
  if (ended === undefined) return false;
  insertWaited(tx, env, wait.run_id, wait.child_run_id, {
    stepId: wait.step_id,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.step_kind,
    outcome,
    attempt: 1,
    startedAt: wait.started_at,
    endedAt: tx.at.now,
    input: ended.input,
  });
  return true;
}

export function endWaitAndWake(tx: Transaction, env: string, wait: WaitRow, outcome: Outcome): WokenRun | null {
  if (!endWait(tx, env, wait, outcome)) return null;
  tx.connection.run(wakeJobSql, tx.at.now, env, wait.run_id);
  const job = tx.connection.one<{
    fn: string;
    leased_by: string | null;
    lane: string | null;
    parked_at: number | null;
  }>(selectJobSql, env, wait.run_id);
  if (job === undefined) return null;
  if (job.lane !== null && job.leased_by === null && job.parked_at === null) tx.lanes.join(env, job.lane);
  return { runId: wait.run_id, fn: job.fn, leasedBy: job.leased_by };
}

/** Ends the run's waits whose time is over, the earliest first; says when the next one is. */
export function expireWaits(tx: Transaction, env: string, runId: string): number | null {
  const { now } = tx.at;
  const timed = waitsOfRun(tx.connection, env, runId)
    .filter((wait) => wait.timeout_at !== null)
    .sort((a, b) => a.timeout_at! - b.timeout_at!);
  for (const wait of timed) {
    if (wait.timeout_at! > now) return wait.timeout_at;
    endWait(tx, env, wait, { kind: wait.on_timeout, json: wait.on_timeout_json });
  }
  return null;
}
