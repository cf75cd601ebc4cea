// A guess at what a replay that stopped at a new step would do behind it. A step that was renamed and one that was put between others look the same until the
// code goes on: so the new one is given the outcome of one that nobody has asked for, and the code is entered again. Where that other one is asked for after
// all, the new one was put in; where it never is, it was renamed. Nothing of it is true but what the code asks for.
import { knownSteps, waitKinds } from "../../execute/known-step.ts";
import { divergenceId } from "../../model/divergence.ts";
import { nearestWord } from "../../model/nearest-word.ts";
import type { Step, StepKind } from "../../model/step.ts";
import { noValue, type Outcome } from "../../model/step.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { AskedStep, ReplayEnd, Supposed } from "./replay.ts";

export interface Entry {
  readonly end: ReplayEnd;
  readonly asked: readonly AskedStep[];
  readonly passedOver: readonly string[];
}

/** Something in the record that the code may ask for. */
export interface Recorded {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
  /** Null of a step that only ever failed: its attempts do not say. */
  readonly kind: StepKind | null;
  /** Null while it has none. */
  readonly outcome: Outcome | null;
  readonly state: "done" | "failing" | "waiting";
}

/** Steps that earlier passes of the code asked for, in the order of recording, without those already reported as diverged. */
export function recordedOf(memo: RunMemo): Recorded[] {
  const steps = new Map(memo.steps.map((step) => [step.stepId, step]));
  const waits = new Map(memo.waits.map((wait) => [wait.stepId, wait]));
  return knownSteps(memo).flatMap(({ stepId, name }): Recorded[] => {
    if (steps.has(divergenceId(stepId))) return [];
    const step = steps.get(stepId);
    if (step !== undefined) {
      const { repeat, kind, outcome } = step;
      return [{ stepId, name, repeat, kind, outcome, state: "done" }];
    }
    const wait = waits.get(stepId);
    if (wait !== undefined) return [{ stepId, name, repeat: 0, kind: wait.stepKind, outcome: null, state: "waiting" }];
    return [{ stepId, name, repeat: 0, kind: null, outcome: null, state: "failing" }];
  });
}

export const unaskedOf = (
  recorded: readonly Recorded[],
  { asked, passedOver }: Pick<Entry, "asked" | "passedOver">,
): Recorded[] => {
  const ids = new Set([...asked.map(({ stepId }) => stepId), ...passedOver]);
  return recorded.filter(({ stepId }) => !ids.has(stepId));
};

const isAlike = (step: AskedStep, { kind }: Recorded): boolean =>
  kind === null ? !waitKinds.has(step.kind) : kind === step.kind;

/** The one it may be, under another name: by its name, else the first. */
function likely(step: AskedStep, candidates: readonly Recorded[]): Recorded | null {
  const alike = candidates.filter((each) => isAlike(step, each));
  const near = nearestWord(
    step.step,
    alike.map(({ name }) => name),
  );
  return alike.find(({ name }) => name === near) ?? alike[0] ?? null;
}

/** More rounds than these nobody waits for: each is an entry into the code. */
const roundsMax = 50;

export async function suppose(
  memo: RunMemo,
  first: Entry,
  enter: (memo: RunMemo) => Promise<Entry>,
): Promise<{ readonly last: Pick<Entry, "asked" | "passedOver">; readonly supposed: readonly Supposed[] }> {
  const recorded = recordedOf(memo);
  const took = new Map<string, string | null>();
  const steps: Step[] = [];
  let last = first;
  let stamp = Math.max(0, ...memo.steps.map((step) => step.stamp));
  for (let round = 0; round < roundsMax && last.end.kind === "waits"; round++) {
    const unasked = unaskedOf(recorded, last);
    const fresh = last.asked.filter(({ isNew, stepId }) => isNew && !took.has(stepId));
    if (unasked.length === 0 || fresh.length === 0) break;
    const before = steps.length;
    for (const step of fresh) {
      const taken = new Set(took.values());
      const found = likely(
        step,
        unasked.filter(({ stepId }) => !taken.has(stepId)),
      );
      took.set(step.stepId, found?.stepId ?? null);
      // An unfinished step has no outcome to give.
      if (found !== null && found.outcome === null) continue;
      steps.push(answered(step, found?.outcome ?? noValue, ++stamp));
    }
    if (steps.length === before) break;
    const next = await enter({ ...memo, steps: [...memo.steps, ...steps] });
    // With what was made up it comes less far: nothing can be learned from it.
    if (next.end.kind !== "waits" && next.end.kind !== "returned") break;
    last = next;
  }
  const { asked, passedOver } = last;
  return { last: { asked, passedOver }, supposed: [...took].map(([stepId, of]) => ({ stepId, took: of })) };
}

const answered = ({ stepId, name, repeat, kind }: AskedStep, outcome: Outcome, stamp: number): Step => ({
  stepId,
  name,
  repeat,
  kind,
  outcome,
  attempt: 1,
  startedAt: 0,
  endedAt: 0,
  stamp,
  worker: null,
});
