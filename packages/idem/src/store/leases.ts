// Input and answer of lease: jobs, each with all a worker needs to go on; and the answers to workers and housekeeping.

import type { LaneCaps } from "../flow/lane.ts";
import type { Event } from "../model/event.ts";
import type { ParkReason, Run } from "../model/run.ts";
import type { FailedAttempt, Step } from "../model/step.ts";
import type { Wait } from "../model/wait.ts";
import type { Flushed } from "./flow.ts";

/** All that a worker needs to go on with a run. */
export interface RunMemo {
  readonly run: Run;
  readonly event: Event;
  /** All events it carries, `event` first: more than one only in a batch. */
  readonly events: readonly Event[];
  readonly steps: readonly Step[];
  readonly attempts: readonly FailedAttempt[];
  readonly waits: readonly Wait[];
  /** Arguments that a person put in place of a step's own: JSON lists by step id. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Set where a person put other data in place of the event's; the event here has it already. */
  readonly hasOtherData?: true;
}

export type LeasedJob =
  | {
      readonly kind: "run";
      readonly jobId: string;
      readonly fence: number;
      /** Number of workers this run lost since it last got on. */
      readonly lostWorkers: number;
      /** Since the last of them was lost it was put off until then (`suspend`). */
      readonly enterAt?: number;
      /** The park reason that a person last let it go on from: the same reason need not park it again. */
      readonly released?: ParkReason;
      /**
       * It did not begin in the time its function allowed when it was created, and was leased past its lane: it holds no slot,
       * whatever is configured now, and is only to be ended.
       */
      readonly isOverdue?: true;
      readonly memo: RunMemo;
    }
  | { readonly kind: "deliver"; readonly jobId: string; readonly fence: number; readonly event: Event }
  /** A run the store itself cancelled: others are still to hear of its end. */
  | { readonly kind: "announce"; readonly jobId: string; readonly fence: number; readonly memo: RunMemo };

export interface LeaseInput {
  readonly env: string;
  readonly worker: string;
  readonly functions: readonly string[];
  /** Limits by function, of those that have any. */
  readonly caps: Readonly<Record<string, LaneCaps>>;
  /** Fingerprints of the worker's code by function, for runs that begin with this lease; absent where they are not said. */
  readonly codes?: Readonly<Record<string, string>>;
  readonly max: number;
  /**
   * Bytes of recorded outcomes that the answer may bring together, absent for any number. With `atLeastOne` the first job comes
   * whatever it weighs. Due jobs are looked at in their order, and the first that does not fit ends the lease.
   */
  readonly room?: { readonly bytes: number; readonly atLeastOne: boolean };
}

export interface LeaseAnswer {
  readonly now: number;
  readonly jobs: readonly LeasedJob[];
  /** When the earliest timer of any function is due, or a start that is put off; null when there is none. */
  readonly nextDueAt: number | null;
  /** Something was due and did not fit into the room there was. */
  readonly isCut?: true;
  /** Absent when no buffer was due. */
  readonly flushed?: Flushed;
}

export interface HeartbeatAnswer {
  /** False when this worker was declared lost: its leases are gone for good and it needs a new id. */
  readonly alive: boolean;
  readonly now: number;
}

export interface SweepAnswer {
  /** Leases taken back from workers that went silent. */
  readonly rescued: number;
  /** Open runs that had neither job nor wait and were given one; more than zero is a defect worth an alarm. */
  readonly repaired: number;
  readonly reaped: number;
  /** False while there are ended runs that nobody added to the counts yet. */
  readonly isCounted: boolean;
  readonly queued: boolean;
}
