// A step's outcome, by itself or together with the look at the fence.
import type { NewStep } from "../advance.ts";
import { stepValues } from "../rules/record-step.ts";
import type { Transaction } from "./transaction.ts";

const insertStepSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, input,
                     child_run_id, worker)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id) do nothing`;

// The fence check and the save in one statement: no row is written unless the job is still this worker's.
const saveStepSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, input,
                     worker)
  select env, run_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, leased_by
    from jobs where env = ? and id = ? and fence = ? and leased_by = ?
  on conflict (env, run_id, step_id) do nothing`;

/** Whether this call recorded it. */
export function insertStep(
  tx: Transaction,
  env: string,
  runId: string,
  step: NewStep,
  worker: string | null,
  childRunId: string | null,
): boolean {
  return tx.connection.run(insertStepSql, env, runId, ...stepValues(step, tx.stamp()), childRunId, worker) > 0;
}

/** Whether the step was recorded: false when the job is no longer this worker's, or the step has an outcome already. */
export function saveStep(
  tx: Transaction,
  job: { env: string; jobId: string; fence: number; worker: string },
  step: NewStep,
): boolean {
  const values = stepValues(step, tx.stamp());
  return tx.connection.run(saveStepSql, ...values, job.env, job.jobId, job.fence, job.worker) > 0;
}
