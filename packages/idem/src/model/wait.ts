// Why a run is asleep: until a time, for an event, for a signal, or for another run. Every wait ends at most once.
import type { Outcome, StepId, StepKind } from "./step.ts";

interface WaitBase {
  readonly stepId: StepId;
  readonly name: string;
  readonly repeat: number;
  readonly stepKind: StepKind;
  /** When the wait ends by itself, with `onTimeout`; null means never. */
  readonly timeoutAt: number | null;
  readonly onTimeout: Outcome;
  /** The input of its step (step-input.ts), for people; null or absent for nothing. */
  readonly input?: string | null;
}

export type NewWait = WaitBase &
  (
    | { readonly kind: "time" }
    | {
        readonly kind: "event";
        readonly eventName: string;
        /** One equality taken from the expression: the arriving event's value at `path` is this canonical JSON; "" for none. */
        readonly path: string;
        readonly value: string;
        /** Left to evaluate for each candidate, as CEL over `event` and `async`; null for nothing. */
        readonly rest: string | null;
      }
    | {
        readonly kind: "signal";
        readonly signal: string;
        /** `replace` takes the signal from the run that waits for it; an outcome is recorded at once instead of waiting. */
        readonly onTaken: "replace" | Outcome;
      }
    | {
        readonly kind: "run";
        /** Which pair of the same patch starts the child. */
        readonly pair: number;
        /** Recorded at once when there is no such pair or it is no start; where the store refuses a start, it says why itself. */
        readonly onRefused: Outcome;
      }
  );

export interface Wait {
  readonly runId: string;
  readonly stepId: StepId;
  readonly name: string;
  readonly kind: "time" | "event" | "signal" | "run";
  readonly stepKind: StepKind;
  readonly timeoutAt: number | null;
  readonly eventName: string | null;
  readonly rest: string | null;
  readonly signal: string | null;
  readonly childRunId: string | null;
  readonly startedAt: number;
}

// While an invoke is not decided yet, its wait names what is to be decided: no run has such an id.
export const standIns = "event:";

export const standInFor = (eventId: string, fn: string): string => `${standIns}${eventId}:${fn}`;

/** The run that is waited for; null where there is none yet. */
export const invokedRun = (childRunId: string | null): string | null =>
  childRunId?.startsWith(standIns) === true ? null : childRunId;
