// A step's outcome is written once and kept for ever: the primary key decides, and a second writer is told the first value.
import type { Outcome } from "../../model/step.ts";
import { invokedRun } from "../../model/wait.ts";
import type { NewFailedAttempt, NewStep } from "../advance.ts";
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

const selectOutcomeSql = "select outcome, json from steps where env = ? and run_id = ? and step_id = ?";

const insertAttemptSql = `
  insert into attempts (env, run_id, step_id, attempt, name, error, started_at, ended_at, retry_at, stamp, worker, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id, attempt) do nothing`;

/** The columns from step_id to input. */
const stepValues = (tx: Transaction, step: NewStep) =>
  [
    step.stepId,
    step.name,
    step.repeat,
    step.kind,
    step.outcome.kind,
    step.outcome.json,
    step.attempt,
    step.startedAt,
    step.endedAt,
    tx.stamp(),
    step.input ?? null,
  ] as const;

/** Whether this call recorded it. */
export function insertStep(tx: Transaction, env: string, runId: string, worker: string | null, step: NewStep): boolean {
  return tx.connection.run(insertStepSql, env, runId, ...stepValues(tx, step), null, worker) > 0;
}

/** The same for a wait that is over, or was before it began; `childRunId` is the run it was for. */
export function insertWaited(
  tx: Transaction,
  env: string,
  runId: string,
  childRunId: string | null,
  step: NewStep,
): boolean {
  const values = stepValues(tx, step);
  return tx.connection.run(insertStepSql, env, runId, ...values, invokedRun(childRunId), null) > 0;
}

/** Whether the step was recorded: false when the job is no longer this worker's, or the step has an outcome already. */
export function saveStep(
  tx: Transaction,
  job: { env: string; jobId: string; fence: number; worker: string },
  step: NewStep,
): boolean {
  return tx.connection.run(saveStepSql, ...stepValues(tx, step), job.env, job.jobId, job.fence, job.worker) > 0;
}

export function findOutcome(tx: Transaction, env: string, runId: string, stepId: string): Outcome | null {
  const row = tx.connection.one<{ outcome: Outcome["kind"]; json: string }>(selectOutcomeSql, env, runId, stepId);
  return row === undefined ? null : { kind: row.outcome, json: row.json };
}

export function insertAttempt(
  tx: Transaction,
  env: string,
  runId: string,
  worker: string,
  attempt: NewFailedAttempt,
): void {
  tx.connection.run(
    insertAttemptSql,
    env,
    runId,
    attempt.stepId,
    attempt.attempt,
    attempt.name,
    attempt.error,
    attempt.startedAt,
    attempt.endedAt,
    attempt.retryAt,
    tx.stamp(),
    worker,
    attempt.input ?? null,
  );
}
