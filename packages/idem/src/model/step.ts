// A step is a named point in a run whose outcome is kept. The first outcome recorded is the outcome for ever.

/** An attempt's outcome: a value or an error, both as JSON text, kept for as long as the run. */
export type Outcome =
  | { readonly kind: "value"; readonly json: string }
  | { readonly kind: "error"; readonly json: string };

export const noValue: Outcome = { kind: "value", json: "null" };

/** sha1 of the user's step id, `:n` appended for the n-th repeat (docs/reference/wire.md#the-memo). */
export type StepId = string;

export const stepKinds = [
  "run",
  "transaction",
  "effect",
  "sleep",
  "wait-for-event",
  "wait-for-signal",
  "invoke",
  "send-event",
  "send-signal",
  "fetch",
  // Work put off until the run ends, and the word to drop it again; no part of what the code reads back.
  "defer",
  "defer-abort",
  // That the code no longer asks for another step (model/divergence.ts).
  "diverged",
  // That the run went on under other code (model/code-fingerprint.ts).
  "code-changed",
] as const;
export type StepKind = (typeof stepKinds)[number];

export interface Step {
  readonly stepId: StepId;
  /** The id the author wrote. */
  readonly name: string;
  readonly repeat: number;
  readonly kind: StepKind;
  readonly outcome: Outcome;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Order of recording inside the run: decides who wins a race on replay. */
  readonly stamp: number;
  readonly worker: string | null;
}

/** A try that failed and will be, or was, followed by another. `stepId` is "" for code between steps. */
export interface FailedAttempt {
  readonly stepId: StepId | "";
  readonly name: string;
  readonly attempt: number;
  readonly error: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly retryAt: number;
  readonly stamp: number;
  readonly worker: string | null;
}
