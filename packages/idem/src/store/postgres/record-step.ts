// A step's outcome is written once and kept for ever: the primary key decides, and a second writer is told the first value.
import type { Outcome } from "../../model/step.ts";
import { invokedRun } from "../../model/wait.ts";
import type { NewFailedAttempt, NewStep } from "../advance.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

// Later than every stamp the run has: whoever looked up to one of them must find this one new, whichever node it comes from.
// The run's job is locked meanwhile.
const insertStepSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                     input, child_run_id)
  select cast(? as text), cast(? as text), cast(? as text), cast(? as text), cast(? as int), cast(? as text),
         cast(? as text), cast(? as text), cast(? as int), cast(? as bigint), cast(? as bigint),
         greatest(cast(? as bigint), coalesce(max(stamp) + 1, 0)), cast(? as text),
         cast(? as text), cast(? as text)
    from steps where env = ? and run_id = ?
  on conflict (env, run_id, step_id) do nothing
  returning stamp`;

const selectOutcomeSql = "select outcome, json from steps where env = ? and run_id = ? and step_id = ?";

const insertAttemptSql = `
  insert into attempts (env, run_id, step_id, attempt, name, error, started_at, ended_at, retry_at, stamp, worker, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id, attempt) do nothing`;

/** The columns from step_id to stamp. */
const stepValues = (step: NewStep, stamp: number) =>
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
  ] as const;

/** The run a step is of, who did it, and the run it waited for. */
interface StepOwner {
  readonly env: string;
  readonly runId: string;
  readonly worker?: string | null;
  readonly childRunId?: string | null;
}

/** Its stamp; null when it was recorded before. */
export async function insertStepAt(
  connection: Connection,
  stamp: number,
  { env, runId, worker = null, childRunId = null }: StepOwner,
  step: NewStep,
): Promise<number | null> {
  const values = [...stepValues(step, stamp), worker, step.input ?? null, childRunId];
  const row = await connection.one<{ stamp: unknown }>(insertStepSql, env, runId, ...values, env, runId);
  return row === undefined ? null : Number(row.stamp);
}

/** Whether this call recorded it. */
export async function insertStep(
  tx: Transaction,
  env: string,
  runId: string,
  worker: string | null,
  step: NewStep,
): Promise<boolean> {
  return (await insertStepAt(tx.connection, tx.stamp(), { env, runId, worker }, step)) !== null;
}

/** The same for a wait that is over, or was before it began; `childRunId` is the run it was for. */
export async function insertWaited(
  tx: Transaction,
  env: string,
  runId: string,
  childRunId: string | null,
  step: NewStep,
): Promise<boolean> {
  const owner = { env, runId, childRunId: invokedRun(childRunId) };
  return (await insertStepAt(tx.connection, tx.stamp(), owner, step)) !== null;
}

export async function findOutcome(
  tx: Transaction,
  env: string,
  runId: string,
  stepId: string,
): Promise<Outcome | null> {
  const row = await tx.connection.one<{ outcome: Outcome["kind"]; json: string }>(selectOutcomeSql, env, runId, stepId);
  return row === undefined ? null : { kind: row.outcome, json: row.json };
}

export function insertAttempt(
  tx: Transaction,
  env: string,
  runId: string,
  worker: string,
  attempt: NewFailedAttempt,
): void {
  tx.connection.write(
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
