// The future of events not yet decided and runs not yet begun. It takes configurations and expressions, which observing does
// not have: the engine has them (engine/outlook.ts).

import type { LaneLimit } from "../flow/lane.ts";
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { Run } from "../model/run.ts";

/** The events that are kept for one run. */
export interface PendingBuffer {
  readonly count: number;
  /** Events that a batch takes; null for a debounce. */
  readonly max: number | null;
  /** When its run starts: of a batch at the latest, of a debounce unless another event comes. */
  readonly startsAt: number;
  /** Of a debounce: the event its run will start with. */
  readonly newestEventId: string | null;
}

/** A limit that a run in line has to pass. */
export interface LimitInLine extends Omit<LaneLimit, "id"> {
  /** Its value for this run, as JSON; null for one limit on all. */
  readonly key: string | null;
  /** Runs at work that hold it; null for one that spaces starts, which nobody holds. */
  readonly used: number | null;
  /** Runs in line for it, this one included. */
  readonly waiting: number;
}

/** An event that would cancel an open run. */
export interface CancelOutlook {
  readonly event: string;
  /** CEL over `event` (the run's own) and `async` (the arriving one); null for any. */
  readonly if: string | null;
  /** Until when it counts; null while the run is open. */
  readonly until: number | null;
}

export interface Outlook {
  /** Null for an event that no buffer keeps (any more). */
  buffer(event: Event, decision: Decision): Promise<PendingBuffer | null>;
  /** Empty for a run that has not to stand in line. */
  line(run: Run, event: Event): Promise<readonly LimitInLine[]>;
  /** Empty once the run has ended. */
  cancels(run: Run): Promise<readonly CancelOutlook[]>;
}
