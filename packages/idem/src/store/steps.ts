// Facts about steps beyond a memo, for people: each step's input, the run it invoked, and the values an open run has made so far.
// Executing needs none of it, so no lease reads it.
import type { StepKind } from "../model/step.ts";

/** One step's input. */
export interface StepGiven {
  readonly stepId: string;
  /** As it is kept (model/step-input.ts); null where there is none, or more of it than was asked for. */
  readonly input: string | null;
  /** Null where there is none. */
  readonly inputBytes: number | null;
  /** The run it waits for, or waited for. */
  readonly childRunId: string | null;
}

/** The newest value that a run's own code made. */
export interface LastOutcome {
  readonly runId: string;
  /** The id its author wrote. */
  readonly step: string;
  /** The first characters of the value. */
  readonly preview: string;
}

/**
 * Kinds whose value tells what a run has made. The others are when it slept, what it heard, what it told Idem, or begin with a status and
 * headers.
 */
export const makingKinds: readonly StepKind[] = ["run", "transaction", "effect", "invoke"];

/** One entry for each step: rows come from the least to the most telling, failed attempts, open waits, outcomes. */
export const givenOf = (rows: readonly StepGiven[]): StepGiven[] => [
  ...new Map(rows.map((row) => [row.stepId, row])).values(),
];

export interface RunLog {
  /** One part for each commit, in no order. */
  readonly parts: readonly string[];
  /** There were more lines than a run may keep. */
  readonly isFull: boolean;
}
