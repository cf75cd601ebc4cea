// Outcomes of attempts. A step's outcome is written once and kept for ever: the primary key decides, and a second writer gets the first.
import type { Outcome } from "../../model/step.ts";
import { invokedRun } from "../../model/wait.ts";
import type { NewFailedAttempt, NewStep } from "../advance.ts";
import type { Database, RuleTransaction } from "./database.ts";
import type { Asked, Rule } from "./rule.ts";

const selectOutcomeSql = "select outcome, json from steps where env = ? and run_id = ? and step_id = ?";

const insertAttemptSql = `
  insert into attempts (env, run_id, step_id, attempt, name, error, started_at, ended_at, retry_at, stamp, worker, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id, attempt) do nothing`;

/** The columns from step_id to input. */
export const stepValues = (step: NewStep, stamp: number) =>
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
    stamp,
    step.input ?? null,
  ] as const;

/** A wait that is over, or was before it began; `childRunId` is the run it was for. Whether this call recorded it. */
export const recordWaited = (
  tx: RuleTransaction,
  env: string,
  runId: string,
  childRunId: string | null,
  step: NewStep,
): Asked<boolean> => tx.recordStep(env, runId, step, null, invokedRun(childRunId));

export function* findOutcome(db: Database, env: string, runId: string, stepId: string): Rule<Outcome | null> {
  const row = yield* db.one<{ outcome: Outcome["kind"]; json: string }>(selectOutcomeSql, env, runId, stepId);
  return row === undefined ? null : { kind: row.outcome, json: row.json };
}

export function recordAttempt(
  tx: RuleTransaction,
  env: string,
  runId: string,
  worker: string,
  attempt: NewFailedAttempt,
): void {
  tx.write(
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
