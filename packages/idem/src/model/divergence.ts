// A run has diverged when its code no longer asks for a step that an earlier pass of it asked for (docs/states.md). That is written down
// beside the run's steps, as a step of its own kind that no code asks for.
import { isCodeChange } from "./code-fingerprint.ts";
import { fromJson, toJson } from "./json.ts";
import type { StepKind } from "./step.ts";

/** Policies for a run that diverged. */
export const divergedPolicies = ["warn", "park", "fail"] as const;
export type OnDiverged = (typeof divergedPolicies)[number];

export interface Divergence {
  /** The step that is not asked for any more. */
  readonly stepId: string;
  /** As its author wrote it; "" where only its id is known. */
  readonly name: string;
  /** The new step the code had asked for by then, as its author wrote it; null for none. */
  readonly asked: string | null;
}

// A step's own id is a hash: it cannot begin like this.
const prefix = "diverged-";

export const divergenceId = (stepId: string): string => `${prefix}${stepId}`;

export const divergedStepId = (stepId: string): string => stepId.slice(prefix.length);

export const isDivergence = ({ stepId }: { readonly stepId: string }): boolean => stepId.startsWith(prefix);

/** Kept with the run and no part of what its code asks for. */
export const isBesideCode = (step: { readonly stepId: string; readonly kind: StepKind }): boolean =>
  step.kind === "defer" || step.kind === "defer-abort" || isNote(step);

/** Written down for people beside the steps: neither an outcome nor a sign that the run got on. */
export const isNote = (step: { readonly stepId: string }): boolean => isDivergence(step) || isCodeChange(step);

export const divergenceJson = ({ asked }: Divergence): string => toJson({ asked }, "a divergence");

export function readDivergence(row: {
  readonly stepId: string;
  readonly name: string;
  readonly json: string;
}): Divergence {
  const { asked } = (fromJson(row.json) ?? {}) as { asked?: unknown };
  const stepId = divergedStepId(row.stepId);
  // A served app knows recorded steps by their ids alone, and names the row after them.
  const name = row.name === stepId || row.name === row.stepId ? "" : row.name;
  return { stepId, name, asked: typeof asked === "string" ? asked : null };
}

/** One sentence for logs, errors and people. */
export function divergenceWords({ stepId, name, asked }: Divergence): string {
  const step = name === "" ? `the step with the id ${stepId}` : `step "${name}"`;
  const instead = asked === null ? "goes on without it" : `asks for step "${asked}", which is new`;
  return `its code no longer asks for ${step}, which it had begun, and ${instead}`;
}
