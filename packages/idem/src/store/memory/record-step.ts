// A step has one outcome for ever: the first one recorded. Later ones are answered with it.
import type { Outcome } from "../../model/step.ts";
import { invokedRun } from "../../model/wait.ts";
import type { NewFailedAttempt, NewStep } from "../advance.ts";
import type { Moment, StepRow, Tables } from "./tables.ts";

export const findStep = (tables: Tables, runId: string, stepId: string): StepRow | undefined =>
  tables.stepsOf(runId).find((step) => step.stepId === stepId);

/** `worker` is null for what the store itself recorded: a timeout, an event that arrived, a run that ended. */
export function recordStep(
  tables: Tables,
  at: Moment,
  runId: string,
  given: NewStep & { readonly childRunId?: string | null },
  worker: string | null,
): { step: StepRow; recorded: boolean } {
  const kept = findStep(tables, runId, given.stepId);
  if (kept !== undefined) return { step: kept, recorded: false };
  const step: StepRow = {
    stepId: given.stepId,
    name: given.name,
    repeat: given.repeat,
    kind: given.kind,
    outcome: copyOutcome(given.outcome),
    attempt: given.attempt,
    startedAt: given.startedAt,
    endedAt: given.endedAt,
    stamp: at.stamp(),
    worker,
    input: given.input ?? null,
    childRunId: invokedRun(given.childRunId ?? null),
  };
  tables.steps.put(runId, [...tables.stepsOf(runId), step]);
  return { step, recorded: true };
}

export function recordAttempt(
  tables: Tables,
  at: Moment,
  runId: string,
  given: NewFailedAttempt,
  worker: string | null,
): void {
  const before = tables.attempts.get(runId) ?? [];
  if (before.some((known) => known.stepId === given.stepId && known.attempt === given.attempt)) return;
  const attempt = {
    stepId: given.stepId,
    name: given.name,
    attempt: given.attempt,
    error: given.error,
    startedAt: given.startedAt,
    endedAt: given.endedAt,
    retryAt: given.retryAt,
    stamp: at.stamp(),
    worker,
    input: given.input ?? null,
  };
  tables.attempts.put(runId, [...before, attempt]);
}

/** Rows are frozen; what the caller gave stays the caller's. */
export const copyOutcome = ({ kind, json }: Outcome): Outcome => ({ kind, json });

export const lastStamp = (tables: Tables, runId: string): number => tables.stepsOf(runId).at(-1)?.stamp ?? 0;
