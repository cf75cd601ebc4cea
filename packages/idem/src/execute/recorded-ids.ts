// Under which id a call of a step tool is recorded (docs/states.md#a-steps-id).
//
// A renamed step (`was`) is recorded under the first id it ever had, in every run and whatever is known of it. A process may have died in the
// middle of it, an earlier run may have the same key, a node of the old code may have the run next: under the new id each of them
// would hand a second key to the destination. What an earlier version recorded under one of its other ids is found there.
import { errors, type IdemError } from "../model/errors.ts";
import type { OpIds } from "./operation.ts";
import type { AskedStep } from "./step-name.ts";

export interface RecordedAs extends OpIds {
  /** Of a renamed step: the id it would have by itself, which nothing of its is recorded under. */
  readonly own?: string | undefined;
}

export type NextIds = RecordedAs | { readonly conflict: IdemError };

/** The records of a run, by step id. */
interface Known {
  /** For the n-th call with this name. */
  stepId(name: string, repeat: number): string;
  isRecorded(stepId: string): boolean;
  isBegun(stepId: string): boolean;
  /** Another id's record stands for this step. */
  passOver(stepId: string): void;
}

/** The n-th call with one id is its n-th repeat; a repeat that meets an id somebody wrote ("a:1") moves on. */
export class RecordedIds {
  private readonly repeats = new Map<string, number>();
  private readonly taken = new Set<string>();
  /** Former ids by the steps that had them, and those steps: in most functions there are none. */
  private renamed: { readonly by: Map<string, string>; readonly was: Map<string, string> } | null = null;

  constructor(private readonly known: Known) {}

  next({ step, was }: AskedStep): NextIds {
    if (was !== null) return this.nextRenamed(step, was);
    const by = this.renamed?.by.get(step);
    if (by !== undefined)
      return conflict(step, `step "${by}" was called so before, and its records stand under this id`);
    if (this.renamed?.was.has(step)) return conflict(step, "it is asked for with `was` and without");
    return this.take(this.place(step));
  }

  /** A renamed step without a record, where the run has one under the id it has now, which no other step was called before. */
  isInDoubt(op: RecordedAs & { readonly stepId: string }): boolean {
    const { own } = op;
    return own !== undefined && this.known.isBegun(own) && !this.taken.has(own) && !this.known.isBegun(op.stepId);
  }

  private nextRenamed(step: string, was: readonly [string, ...string[]]): NextIds {
    this.renamed ??= { by: new Map(), was: new Map() };
    const { by, was: said } = this.renamed;
    const ids = was.join("\n");
    const isOther = said.has(step) ? said.get(step) !== ids : this.repeats.has(step) && !by.has(step);
    if (isOther) return conflict(step, "it is asked for with another `was`, or without");
    for (const id of was) {
      const other = by.get(id);
      if (other !== undefined && other !== step)
        return conflict(step, `"${id}" is what step "${other}" was called before`);
      if (other === undefined && this.repeats.has(id)) return conflict(step, `"${id}" is the id of another step`);
    }
    said.set(step, ids);
    for (const id of was) by.set(id, step);
    const { known } = this;
    const places = was.map((id) => this.place(id));
    const place =
      places.find(({ stepId }) => known.isRecorded(stepId)) ??
      places.find(({ stepId }) => known.isBegun(stepId)) ??
      places[0]!;
    for (const each of places) {
      this.take(each);
      if (each !== place) known.passOver(each.stepId);
    }
    return was.includes(step) ? place : { ...place, own: this.known.stepId(step, places[0]!.repeat) };
  }

  private place(name: string): OpIds {
    let repeat = this.repeats.get(name) ?? 0;
    let stepId = this.known.stepId(name, repeat);
    while (this.taken.has(stepId)) stepId = this.known.stepId(name, ++repeat);
    return { stepId, name, repeat };
  }

  private take(ids: OpIds): OpIds {
    this.taken.add(ids.stepId);
    this.repeats.set(ids.name, ids.repeat + 1);
    return ids;
  }
}

const conflict = (step: string, why: string): NextIds => ({ conflict: errors.STEP_WAS_CONFLICT({ step, why }) });

/** Whether it is the same step's record only its author knows. */
export const inDoubt = (step: string): IdemError =>
  errors.STEP_WAS_CONFLICT({
    step,
    why: `the run has something under "${step}" and nothing under what it was called before: done before \`was\` was there it belongs to this step, and \`was\` has to list "${step}" too, last; of another step it is that one's`,
  });
