// A wait ends once: whoever deletes its row records its outcome. Timeout, match, signal and finished child all race on that
// delete, so none of them needs to know about the others. The run's job is locked first, as by everyone who moves the run.
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
export const lockJobSql = "select fn, leased_by from jobs where env = ? and id = ? for update";

/** Whoever ends the run looks for those who wait for it. No row when it has ended. */
export const awaitRunSql = "update runs set awaited = 1 where env = ? and id = ? and ended_state is null";

/** Records the wait's outcome if the wait is still there. */
async function endWait(tx: Transaction, env: string, wait: WaitRow, outcome: Outcome): Promise<boolean> {
  const ended = await tx.connection.one<{ input: string | null }>(deleteWaitSql, env, wait.run_id, wait.step_id);
  if (ended === undefined) return false;
  await insertWaited(tx, env, wait.run_id, wait.child_run_id, {
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

export async function endWaitAndWake(
  tx: Transaction,
  env: string,
  wait: WaitRow,
  outcome: Outcome,
): Promise<WokenRun | null> {
  const job = await tx.connection.one<{ fn: string; leased_by: string | null }>(lockJobSql, env, wait.run_id);
  if (job === undefined || !(await endWait(tx, env, wait, outcome))) return null;
  tx.connection.write(wakeJobSql, tx.at.now, env, wait.run_id);
  return { runId: wait.run_id, fn: job.fn, leasedBy: job.leased_by };
}

/** Ends the run's waits whose time is over, the earliest first; says when the next one is. The caller holds the run's job. */
export async function expireWaits(tx: Transaction, env: string, runId: string): Promise<number | null> {
  const { now } = tx.at;
  const timed = (await waitsOfRun(tx.connection, env, runId))
    .filter((wait) => wait.timeout_at !== null)
    .sort((a, b) => a.timeout_at! - b.timeout_at!);
  for (const wait of timed) {
    if (wait.timeout_at! > now) return wait.timeout_at;
    await endWait(tx, env, wait, { kind: wait.on_timeout, json: wait.on_timeout_json });
  }
  return null;
}
