// A run's memo as SDKs read it: what each step left behind, in the shape of its kind (docs/reference/wire.md#the-memo).
import type { Outcome, StepKind } from "../model/step.ts";

export interface RecordedStep {
  readonly stepId: string;
  readonly kind: StepKind;
  readonly outcome: Outcome;
}

/** Kinds that are kept with the run and are no part of what its code reads back. */
export const isLazy = (kind: StepKind): boolean =>
  kind === "defer" || kind === "defer-abort" || kind === "code-changed";

/** JSON text of one entry of `steps`. */
export function stateOf({ kind, outcome }: RecordedStep): string {
  if (outcome.kind === "error") return `{"error":${outcome.json}}`;
  switch (kind) {
    case "sleep":
      return "null";
    case "wait-for-event":
      // The event itself, unwrapped; null when the wait timed out.
      return outcome.json;
    case "wait-for-signal":
      return outcome.json === "null" ? "null" : `{"data":${outcome.json}}`;
    default:
      return `{"data":${outcome.json}}`;
  }
}

/** JSON text of `steps`: what is recorded, and the inputs a person edited for steps that are still to run. */
export function statesOf(steps: readonly RecordedStep[], inputs: Readonly<Record<string, string>> = {}): string {
  const entries = steps
    .filter(({ kind }) => !isLazy(kind))
    .map((step) => `${JSON.stringify(step.stepId)}:${stateOf(step)}`);
  const edited = Object.entries(inputs);
  if (edited.length > 0) {
    const recorded = new Set(steps.map(({ stepId }) => stepId));
    for (const [stepId, input] of edited) {
      if (!recorded.has(stepId)) entries.push(`${JSON.stringify(stepId)}:{"type":"input","input":${input}}`);
    }
  }
  return `{${entries.join(",")}}`;
}
