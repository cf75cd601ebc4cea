// Input and answer of advance: the one way a run moves.

import type { BesideAsked } from "../flow/concurrency/beside.ts";
import type { NewLog } from "../model/log-line.ts";
import type { EndState, ParkReason } from "../model/run.ts";
import type { Outcome, Step, StepKind } from "../model/step.ts";
import type { NewWait } from "../model/wait.ts";
import type { Ingested, NewEvent, NewPair, StaleRegistration } from "./ingest.ts";

export interface NewStep {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
  readonly kind: StepKind;
  readonly outcome: Outcome;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Its input (model/step-input.ts), for people; null or absent for nothing. */
  readonly input?: string | null;
}

export interface NewFailedAttempt {
  readonly stepId: string;
  readonly name: string;
  readonly attempt: number;
  readonly error: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly retryAt: number;
  /** As of a step. */
  readonly input?: string | null;
}

/** Events that step or run produces, in the same transaction. `ifAwaited` keeps an event only when a run waits for its name. */
export interface NestedIngest {
  readonly registration: number | null;
  readonly events: readonly (NewEvent & { readonly ifAwaited?: boolean })[];
  readonly pairs: readonly NewPair[];
}

export interface EndRun {
  readonly kind: "end";
  readonly state: EndState;
  readonly result: string;
  /** Give the function key back (`afterFailure: "release"`). */
  readonly releaseKey: boolean;
}

export interface AdvanceInput {
  readonly env: string;
  readonly worker: string;
  readonly runId: string;
  readonly jobId: string;
  readonly fence: number;
  readonly steps: readonly NewStep[];
  /** Somebody else than the holder brings these steps, by the fence its call was made with: they are news to the holder. */
  readonly asNews?: true;
  readonly attempts: readonly NewFailedAttempt[];
  readonly waits: readonly NewWait[];
  readonly ingest: NestedIngest | null;
  /** Lines of the run's code, for people; null or absent for none. Beyond `runLogBytesMax` they are only counted. */
  readonly log?: NewLog | null;
  /** The slots beside its own that the run asks to hold from now on (docs/decisions/0053); absent where nothing changes. Ignored for a run that ends. */
  readonly beside?: BesideAsked;
  /** Outcomes with a later stamp, recorded by someone else, are news to the caller. */
  readonly seen: number;
  readonly next: /** Keep the lease; `collect` asks for news as well. */
    | { readonly kind: "continue"; readonly collect: boolean }
    /** Give the lease back until `dueAt`, a wait's timeout or news, whichever is first. Refused while there is news. */
    | SuspendRun
    | ParkRun
    | EndRun;
}

export interface SuspendRun {
  readonly kind: "suspend";
  readonly dueAt: number | null;
  /** It lost workers: whatever wakes it, its code is not entered before this. The next lease hands it on. */
  readonly enterAt?: number;
}

/**
 * Give the lease back until a person lets the run go on: no wait, timeout or event makes it due, and news does not refuse it. At `dueAt` it
 * is leased all the same, to be ended (`timeouts.finish`).
 */
export interface ParkRun {
  readonly kind: "park";
  readonly why: ParkReason;
  readonly dueAt: number | null;
}

export interface Advanced {
  readonly kind: "advanced";
  readonly now: number;
  /** The stamp up to which outcomes are now seen. */
  readonly seen: number;
  /** For each step given: the outcome that counts, which is an earlier one if the step already had one. */
  readonly outcomes: readonly Outcome[];
  readonly news: readonly Step[];
  /** With news: the stamp of each step given, for their order among the news decides races. Null when nothing was collected. */
  readonly stamps: readonly number[] | null;
  /** False once the run is suspended or ended. */
  readonly leased: boolean;
  readonly ingested: Ingested | null;
  /** Runs that became due because this one ended. */
  readonly woken: readonly WokenRun[];
  /** Whether a slot was given back that somebody in line may want. */
  readonly freed: boolean;
  /** With `beside` asked: how many slots the run holds beside its own from now on; of no account once the lease is given back. */
  readonly beside?: number;
}

export type AdvanceAnswer =
  | Advanced
  | StaleRegistration
  /** The job has another fence or is gone: somebody else has the run. Nothing was stored. */
  | { readonly kind: "fenced" }
  /** The run has ended. Nothing was stored, unless what it sent is what ended it. */
  | { readonly kind: "ended"; readonly state: EndState };

export interface WokenRun {
  readonly runId: string;
  readonly fn: string;
  /** The worker that holds it right now, which should collect; null when it is queued. */
  readonly leasedBy: string | null;
}
