// The course of a run, in order: steps with their attempts, and what it still waits for.
import { destinationKey } from "../dedup/destination-key.ts";
import { isNote } from "../model/divergence.ts";
import { fromJson } from "../model/json.ts";
import { isEnded } from "../model/run.ts";
import type { StepKind } from "../model/step.ts";
import { readError, type SerializedError } from "../model/user-errors.ts";
import type { RunMemo } from "../store/leases.ts";

export interface TimelineAttempt {
  readonly attempt: number;
  readonly error: SerializedError | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly retryAt: number | null;
  /** The process that made it; null when the store itself ended a wait. */
  readonly worker: string | null;
}

export interface TimelineEntry {
  /** The step's id as written; "" for code between steps. */
  readonly name: string;
  /** Its hash; unlike the name it is unique in the run. */
  readonly stepId: string;
  /** "function" for code between steps; "diverged" says that the code no longer asks for the step of that name (`output.asked`: for which instead); "code-changed" that the run went on under other code (`output.from`, `output.to`: fingerprints). */
  readonly kind: StepKind | "function";
  readonly state: "completed" | "failed" | "retrying" | "waiting";
  readonly output: unknown;
  readonly error: SerializedError | null;
  /** The `key` that the step's callback received. */
  readonly destinationKey: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly waitsUntil: number | null;
  /** Recorded in the run that this one reruns. */
  readonly isKept: boolean;
  readonly attempts: readonly TimelineAttempt[];
}

export type Timeline = readonly TimelineEntry[];

export function timelineOf(memo: RunMemo, env: string): Timeline {
  const { run } = memo;
  const failed = (stepId: string): TimelineAttempt[] =>
    memo.attempts
      .filter((attempt) => attempt.stepId === stepId)
      .map(({ attempt, error, startedAt, endedAt, retryAt, worker }) => ({
        attempt,
        error: readError(error),
        startedAt,
        endedAt,
        retryAt,
        worker,
      }));
  const keyOf = (name: string, repeat: number): string =>
    destinationKey({ env, fn: run.fn, subject: run.subject, generation: run.generation }, name, repeat);
  const recorded = new Set(memo.steps.map(({ stepId }) => stepId));
  const entries: TimelineEntry[] = memo.steps.map((step, i) => ({
    name: step.name,
    stepId: step.stepId,
    kind: step.kind,
    state: step.outcome.kind === "value" ? "completed" : "failed",
    output: step.outcome.kind === "value" ? fromJson(step.outcome.json) : null,
    error: step.outcome.kind === "error" ? readError(step.outcome.json) : null,
    destinationKey: isNote(step) ? null : keyOf(step.name, step.repeat),
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    waitsUntil: null,
    isKept: i < (run.rerunFrom?.keptCount ?? 0),
    attempts: [
      ...failed(step.stepId),
      {
        attempt: step.attempt,
        error: step.outcome.kind === "error" ? readError(step.outcome.json) : null,
        startedAt: step.startedAt,
        endedAt: step.endedAt,
        retryAt: null,
        worker: step.worker,
      },
    ],
  }));
  for (const stepId of new Set(memo.attempts.map((attempt) => attempt.stepId))) {
    if (recorded.has(stepId)) continue;
    const attempts = failed(stepId);
    const last = attempts.at(-1)!;
    const rows = memo.attempts.filter((attempt) => attempt.stepId === stepId);
    // Code between steps has no outcome of its own: a step after it, or the run's end, says that it went on.
    const wentOn = stepId === "" && memo.steps.some(({ stamp }) => stamp > rows.at(-1)!.stamp);
    const isOver = isEnded(run.state);
    const state = wentOn || run.state === "completed" ? "completed" : isOver ? "failed" : "retrying";
    entries.push({
      name: rows[0]!.name,
      stepId,
      kind: stepId === "" ? "function" : "run",
      state,
      output: null,
      error: state === "completed" ? null : last.error,
      destinationKey: null,
      startedAt: attempts[0]!.startedAt,
      endedAt: state === "retrying" ? null : last.endedAt,
      waitsUntil: state === "retrying" ? last.retryAt : null,
      isKept: false,
      attempts,
    });
  }
  for (const wait of memo.waits) {
    entries.push({
      name: wait.name,
      stepId: wait.stepId,
      kind: wait.stepKind,
      state: "waiting",
      output: null,
      error: null,
      destinationKey: null,
      startedAt: wait.startedAt,
      endedAt: null,
      waitsUntil: wait.timeoutAt,
      isKept: false,
      attempts: [],
    });
  }
  // Recorded steps come in the order of recording, which no clock can disturb; what is still open comes after them.
  return entries;
}
