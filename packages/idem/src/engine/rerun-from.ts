// The beginning of a rerun, from the words of the person who asks: a step as its author named it, and what to give it instead.
import { errors } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import type { StepKind } from "../model/step.ts";
import { hashStepId } from "../model/step-id.ts";
import type { Audited } from "../store/audit.ts";
import type { RunMemo } from "../store/leases.ts";
import type { RerunInput } from "../store/runs.ts";
import { limits } from "./limits.ts";

export interface RerunOptions {
  /** A step's id as written, `id:n` for its n-th repeat, or its hash. Absent: from the start. */
  readonly fromStep?: string;
  /** Replaces the arguments the step's code is given. */
  readonly input?: readonly unknown[];
  /** Instead of its event's data; from the start, and only where it gives the same key. */
  readonly data?: unknown;
  /** Made beforehand where the same asking may come twice. */
  readonly newRunId?: string;
  /** Absent where no person asked for this one run. */
  readonly byHand?: Audited | undefined;
}

export type BeginAt = NonNullable<RerunInput["from"]>;

export function rerunFrom(memo: RunMemo, isRemote: boolean, options: RerunOptions): BeginAt | null {
  const { fromStep, input } = options;
  if (fromStep !== undefined && options.data !== undefined) {
    const why = "what is kept before a step was made of the old data; rerun from the start with it";
    throw errors.OPTION_INVALID({ option: "data", why });
  }
  if (fromStep === undefined) {
    if (input === undefined) return null;
    throw errors.OPTION_INVALID({ option: "input", why: "it belongs to a step; say which with fromStep" });
  }
  const step = findStep(memo, fromStep);
  if (step === null) throw errors.RUN_STEP_UNKNOWN({ runId: memo.run.id, step: fromStep });
  const { stepId, name } = step;
  if (input === undefined) return { stepId, name, input: null };
  if (!Array.isArray(input)) throw errors.OPTION_INVALID({ option: "input", why: "it must be a list of arguments" });
  if (step.kind !== null && step.kind !== "run" && !(isRemote && step.kind === "fetch")) {
    throw errors.OPTION_INVALID({
      option: "input",
      why: `step "${name}" is a ${step.kind} step and takes no arguments`,
    });
  }
  const json = toJson(input, `The input for step "${name}"`);
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.stepBytesMax) {
    throw errors.OPTION_INVALID({ option: "input", why: `it is ${bytes} bytes, more than ${limits.stepBytesMax}` });
  }
  return { stepId, name, input: json };
}

/** Anything the run has met: recorded, failed and to be tried again, or waiting. */
function findStep(memo: RunMemo, text: string): { stepId: string; name: string; kind: StepKind | null } | null {
  const met: { stepId: string; name: string; kind: StepKind | null }[] = [
    ...memo.steps,
    ...memo.waits.map(({ stepId, name, stepKind }) => ({ stepId, name, kind: stepKind })),
    ...memo.attempts.filter(({ stepId }) => stepId !== "").map(({ stepId, name }) => ({ stepId, name, kind: null })),
  ];
  const hash = hashStepId(text, 0);
  return met.find(({ stepId }) => stepId === hash) ?? met.find(({ stepId }) => stepId === text) ?? null;
}
