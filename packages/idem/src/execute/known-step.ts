// Steps in the memo that earlier passes of the code asked for, and when they did.
import { type Divergence, divergenceId, divergenceJson, isBesideCode } from "../model/divergence.ts";
import type { StepKind } from "../model/step.ts";
import type { NewStep } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";

/** Their outcome comes by itself; the others run code. */
export const waitKinds: ReadonlySet<StepKind> = new Set(["sleep", "wait-for-event", "wait-for-signal", "invoke"]);

export interface KnownStep {
  readonly stepId: string;
  readonly name: string;
  /** Its place in the order of recording; what has no outcome comes last. */
  readonly place: number;
  readonly isWait: boolean;
  readonly from: number;
  /** Infinity for what is not over. */
  readonly to: number;
}

export function knownSteps({ run, steps, attempts, waits }: RunMemo): KnownStep[] {
  // A fresh run, as most are.
  if (steps.length === 0 && attempts.length === 0 && waits.length === 0) return [];
  const known = new Map<string, KnownStep>();
  // Steps that a rerun brought along were asked for by the code of the run before it, which may have been mended since.
  for (const step of steps.slice(run.rerunFrom?.keptCount ?? 0)) {
    if (isBesideCode(step)) continue;
    const { stepId, name, startedAt, endedAt } = step;
    const isWait = waitKinds.has(step.kind);
    known.set(stepId, { stepId, name, place: known.size, isWait, from: startedAt, to: endedAt });
  }
  const isKept = new Set(steps.map(({ stepId }) => stepId));
  for (const each of [...attempts, ...waits]) {
    const { stepId, name, startedAt } = each;
    if (stepId === "") continue;
    const of = known.get(stepId);
    if (of !== undefined) known.set(stepId, { ...of, from: Math.min(of.from, startedAt) });
    else if (!isKept.has(stepId)) {
      const isWait = "stepKind" in each;
      known.set(stepId, { stepId, name, place: known.size, isWait, from: startedAt, to: Number.POSITIVE_INFINITY });
    }
  }
  return [...known.values()];
}

/** The records that the code no longer asks for these. */
export const divergenceSteps = (found: readonly Divergence[], now: number): NewStep[] =>
  found.map((each) => ({
    stepId: divergenceId(each.stepId),
    name: each.name === "" ? each.stepId : each.name,
    repeat: 0,
    kind: "diverged",
    outcome: { kind: "value", json: divergenceJson(each) },
    attempt: 1,
    startedAt: now,
    endedAt: now,
  }));

// Waits begin by the store's clock, steps end by what this node takes it for, which is ahead of it.
const skewMs = 100;

/** Steps that began in the same millisecond cannot be told from such that did side by side. */
export function overlap(a: KnownStep, b: KnownStep): boolean {
  if (a.from === b.from) return true;
  const [first, second] = a.from < b.from ? [a, b] : [b, a];
  return second.from + (first.isWait === second.isWait ? 0 : skewMs) < first.to;
}
