// Input and answer of ingest: events with one decision for each function they trigger.

import type { StartFlow } from "../flow/plan.ts";
import type { EventIdScope } from "../model/claim.ts";
import type { Decision, DecisionKind } from "../model/decision.ts";
import type { EventValue } from "../model/event-values.ts";
import type { ByHand } from "./audit.ts";
import type { CancelledRun, DecidedCounts } from "./flow.ts";
import type { LeasedJob } from "./leases.ts";

export interface NewEvent {
  readonly id: string;
  readonly callerId: string | null;
  /** Window of the caller's id; only read when there is one. */
  readonly windowMs: number;
  /** The scope of the caller's id; that of senders' ids by default. */
  readonly idScope?: EventIdScope;
  readonly name: string;
  readonly data: string;
  readonly ts: number;
  readonly extra: string | null;
  readonly sourceRunId: string | null;
  /** Values it is found by; absent where nobody chose fields of such events. */
  readonly values?: readonly EventValue[];
}

/** Starts a run unless its event is a duplicate or its key is taken. */
export interface StartPair {
  readonly kind: "start";
  /** Index into the call's events. */
  readonly event: number;
  readonly fn: string;
  readonly runId: string;
  readonly key: string | null;
  readonly windowMs: number;
  /** Keep the window open past its end while the run is open. */
  readonly hold: boolean;
  readonly subject: string;
  /** The run's generation when neither the function key nor the caller's id has a claim to take it from. */
  readonly generation: string;
  readonly rank: number;
  /** Not before this time; null for at once. */
  readonly dueAt: number | null;
  /** Lease the run's job to this worker as it is created ("born leased"). */
  readonly leaseTo: string | null;
  /** Fingerprint of the code that the worker it is leased to has; absent where it is not said. */
  readonly code?: string | null;
  /** Why the decision deserves a second look (a missing key, say); null for the ordinary case. */
  readonly reason: string | null;
  /** Null for a function that may start as many runs as it likes, at once. */
  readonly flow: StartFlow | null;
}

/** A decision that starts nothing. */
export interface DecidedPair {
  readonly kind: Extract<DecisionKind, "filtered" | "paused" | "held" | "dropped" | "missed">;
  readonly event: number;
  readonly fn: string;
  readonly reason: string;
}

export type NewPair = StartPair | DecidedPair;

export interface IngestInput {
  readonly env: string;
  /** The registration the pairs were decided with; null skips the check. */
  readonly registration: number | null;
  readonly events: readonly NewEvent[];
  readonly pairs: readonly NewPair[];
  /** Deliver jobs are born leased to this worker; null leaves them in the queue. */
  readonly leaseTo: string | null;
  /** Absent for what programs send. */
  readonly byHand?: ByHand | undefined;
}

export interface IngestedEvent {
  readonly id: string;
  /** Set when the caller's id was taken: the event that was first. */
  readonly firstEventId: string | null;
}

export interface Ingested {
  readonly kind: "ingested";
  readonly now: number;
  readonly events: readonly IngestedEvent[];
  /** Every decision of every event, in order of events; for a duplicate also those of the first event's functions. */
  readonly decisions: readonly Decision[];
  /** The data of every first event that a duplicate of this call is answered with, by id or by key, where it differs. */
  readonly firsts: readonly { readonly eventId: string; readonly data: string }[];
  /** Jobs created with `leaseTo`; the caller must execute them. */
  readonly leased: readonly LeasedJob[];
  /** Whether due jobs were left for a lease. */
  readonly queued: boolean;
  /** Runs cancelled to make room; each has an announce job, so that others hear of its end. */
  readonly cancelled: readonly CancelledRun[];
  /** The earliest instant at which a buffer made or moved here, or a run that is put off, is due; null when there is none. */
  readonly dueAt: number | null;
  /** Events of earlier calls that were decided again here, because a batch became full; absent for none. */
  readonly redecided?: DecidedCounts;
}

/** Functions changed since the pairs were decided: nothing was stored; decide again with the same ids. */
export interface StaleRegistration {
  readonly kind: "stale-registration";
  readonly registration: number;
}
