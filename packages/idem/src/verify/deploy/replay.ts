// A thread's report on one open run, its record replayed over the function as the modules now have it. Plain data.
import type { StepKind } from "../../model/step.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { Place } from "../thing.ts";

/** One run to be replayed, by the function's full name in the modules. */
export interface ReplayedRun {
  readonly fn: string;
  readonly env: string;
  readonly memo: RunMemo;
}

/** A step that the code asked for. */
export interface AskedStep {
  readonly stepId: string;
  /** Its outcome is kept under this name. */
  readonly name: string;
  readonly repeat: number;
  /** Its name in the code. */
  readonly step: string;
  readonly kind: StepKind;
  /** Neither an outcome, nor a wait, nor a failed attempt of it is in the record. */
  readonly isNew: boolean;
  /** Of a wait that is under way: what the code asks it for now, as it would be kept. */
  readonly input: string | null;
}

/** Of a step that is new, and was given the outcome of one that nobody had asked for, to see what the code does then. */
export interface Supposed {
  readonly stepId: string;
  /** Null where there was none of its kind: it was given nothing. */
  readonly took: string | null;
}

export type ReplayEnd =
  /** It stands where it has to wait: for what the record has no outcome of. */
  | { readonly kind: "waits" }
  | { readonly kind: "returned" }
  | {
      readonly kind: "threw";
      readonly why: string;
      readonly place: Place | null;
      /** It is the recorded failure of a step, which its code does not catch. */
      readonly isRecorded: boolean;
    }
  /** Its steps claim one id, or a record that may be another one's (`was`). */
  | { readonly kind: "conflict"; readonly why: string }
  /** It waits for something that is no step, and does not come. */
  | { readonly kind: "hangs" };

export interface Replay {
  readonly runId: string;
  readonly end: ReplayEnd;
  /** In the order of asking; as far as it went with what was supposed. */
  readonly asked: readonly AskedStep[];
  /** Recorded under a former id of a step whose record is another one. */
  readonly passedOver: readonly string[];
  readonly supposed: readonly Supposed[];
  /** Reached for outside of steps; nothing here answers it. */
  readonly refused: readonly string[];
  /** Why the client's schema of the run's event would refuse its data today; null where it would not. */
  readonly refusedData: string | null;
}
