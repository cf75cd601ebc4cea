// The store: where facts live. One contract, several stores behind it (memory, SQLite, later PostgreSQL), one suite that
// checks them all (store/contract/).
//
// Every write is one transaction, takes ids that were made before the first try, and may be called twice: the second call
// finds its own facts and gives the same answer. User code and CEL never run inside a store, but for the body of a step that is a
// transaction (transactional.ts), and a store never chooses between policies: it compares keys, times, counters and fences.
//
// `now` is the store's own clock: it never goes backwards, and it alone decides windows, leases and due times.
import type { ClaimChange } from "../model/amend-claim.ts";
import type { Claim, ClaimAnswer } from "../model/claim.ts";
import type { Decision, DecisionKind } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { LaneCaps } from "../model/lane.ts";
import type { Outcome } from "../model/outcome.ts";
import type { EndState, Run } from "../model/run.ts";
import type { FailedAttempt, Step, StepKind } from "../model/step.ts";
import type { NewWait, Wait } from "../model/wait.ts";
import type { FollowAnswer, FollowInput, JudgeAnswer, JudgeInput, Raised, RaiseInput } from "./alerts.ts";
import type { AuditAnswer, Audited, AuditInput } from "./audit.ts";
import type { CountAnswer, CountInput } from "./counts.ts";
import type {
  CancelledRun,
  DecidedCounts,
  Flushed,
  LaneUse,
  RedecideAnswer,
  RedecideInput,
  StartFlow,
  Ticked,
  TickInput,
} from "./flow.ts";
import type { StoreOutbox } from "./outbox.ts";
import type { StoreReads } from "./reads.ts";
import type { SettingAnswer, SettingInput } from "./settings.ts";
import type { StoreSharing, WorkerAbout } from "./sharing.ts";
import type { StoreTransactions } from "./transactional.ts";

// ---------------------------------------------------------------------------------------------------- functions

export interface RegisteredFunction {
  /** `<app>-<id>`: unique in the environment, and what others name it by. */
  readonly fn: string;
  readonly app: string;
  readonly id: string;
  /** JSON text the engine gave; the store never reads it. */
  readonly config: string;
  readonly pausedAt: number | null;
}

export interface PauseInput extends Audited {
  readonly env: string;
  readonly fn: string;
  /** False lets it start runs again. */
  readonly paused: boolean;
  /** Why, for the audit; "" when nobody said. */
  readonly reason: string;
}

export type PauseAnswer =
  | {
      readonly kind: "set";
      readonly registration: number;
      /** Since when it is paused; null once it is not. */
      readonly pausedAt: number | null;
      readonly changed: boolean;
    }
  | { readonly kind: "unknown" };

export interface RegisterInput {
  readonly env: string;
  readonly app: string;
  readonly functions: readonly {
    readonly fn: string;
    readonly id: string;
    readonly config: string;
    /** Its schedules. One that is new here begins now; one that is no longer named is forgotten. */
    readonly crons: readonly string[];
  }[];
}

export type RegisterAnswer =
  | { readonly kind: "registered"; readonly registration: number; readonly changed: boolean }
  /** Another app of this environment has a function of that name. */
  | { readonly kind: "taken"; readonly fn: string; readonly app: string };

// ---------------------------------------------------------------------------------------------------- ingest

export interface NewEvent {
  readonly id: string;
  readonly callerId: string | null;
  /** Window of the caller's id; only read when there is one. */
  readonly windowMs: number;
  readonly name: string;
  readonly data: string;
  readonly ts: number;
  readonly extra: string | null;
  readonly sourceRunId: string | null;
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

// ---------------------------------------------------------------------------------------------------- leases

/** What a worker needs to go on with a run. */
export interface RunMemo {
  readonly run: Run;
  readonly event: Event;
  /** All events it carries, `event` first: more than one only in a batch. */
  readonly events: readonly Event[];
  readonly steps: readonly Step[];
  readonly attempts: readonly FailedAttempt[];
  readonly waits: readonly Wait[];
  /** What a person put in place of a step's arguments: JSON lists by step id. */
  readonly inputs: Readonly<Record<string, string>>;
}

export type LeasedJob =
  | {
      readonly kind: "run";
      readonly jobId: string;
      readonly fence: number;
      /** How many workers this run lost since it last got on. */
      readonly lostWorkers: number;
      /**
       * It did not begin in the time its function allowed when it was created, and was leased past its lane: it holds no slot,
       * whatever is configured now, and is only to be ended.
       */
      readonly isOverdue?: true;
      readonly memo: RunMemo;
    }
  | { readonly kind: "deliver"; readonly jobId: string; readonly fence: number; readonly event: Event }
  /** A run the store itself cancelled: its end is to be told to others. */
  | { readonly kind: "announce"; readonly jobId: string; readonly fence: number; readonly memo: RunMemo };

export interface LeaseInput {
  readonly env: string;
  readonly worker: string;
  readonly functions: readonly string[];
  /** What the functions that have limits allow, by function. */
  readonly caps: Readonly<Record<string, LaneCaps>>;
  readonly max: number;
}

export interface LeaseAnswer {
  readonly now: number;
  readonly jobs: readonly LeasedJob[];
  /** When the earliest timer of any function is due, or a throttled start; null when there is none. */
  readonly nextDueAt: number | null;
  /** Absent when no buffer was due. */
  readonly flushed?: Flushed;
}

// ---------------------------------------------------------------------------------------------------- advance

export interface NewStep {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
  readonly kind: StepKind;
  readonly outcome: Outcome;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface NewFailedAttempt {
  readonly stepId: string;
  readonly name: string;
  readonly attempt: number;
  readonly error: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly retryAt: number;
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
  /** Give the function key back (`onFailure: "release"`). */
  readonly releaseKey: boolean;
}

export interface AdvanceInput {
  readonly env: string;
  readonly worker: string;
  readonly runId: string;
  readonly jobId: string;
  readonly fence: number;
  readonly steps: readonly NewStep[];
  readonly attempts: readonly NewFailedAttempt[];
  readonly waits: readonly NewWait[];
  readonly ingest: NestedIngest | null;
  /** Outcomes with a later stamp, recorded by someone else, are news to the caller. */
  readonly seen: number;
  readonly next: /** Keep the lease; `collect` asks for news as well. */
    | { readonly kind: "continue"; readonly collect: boolean }
    /** Give the lease back until `dueAt`, a wait's timeout or news, whichever is first. Refused while there is news. */
    | { readonly kind: "suspend"; readonly dueAt: number | null }
    | EndRun;
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

// ---------------------------------------------------------------------------------------------------- waits

export interface WaitCandidate {
  readonly runId: string;
  readonly stepId: string;
  readonly rest: string | null;
  /** The waiting run's own event, for expressions that compare with it. */
  readonly event: Event;
}

export interface ResumeInput {
  readonly env: string;
  /** The deliver job this ends. */
  readonly jobId: string;
  readonly fence: number;
  readonly waits: readonly { readonly runId: string; readonly stepId: string }[];
  readonly outcome: Outcome;
}

export type ResumeAnswer =
  | { readonly kind: "resumed"; readonly woken: readonly WokenRun[] }
  | { readonly kind: "fenced" };

export type SignalAnswer = { readonly kind: "resumed"; readonly woken: WokenRun } | { readonly kind: "nobody-waits" };

// ---------------------------------------------------------------------------------------------------- runs

export interface CancelInput {
  readonly env: string;
  readonly runId: string;
  readonly result: string;
  readonly releaseKey: boolean;
  readonly ingest: NestedIngest | null;
}

export type CancelAnswer =
  | {
      readonly kind: "cancelled";
      readonly woken: readonly WokenRun[];
      readonly ingested: Ingested | null;
      readonly freed: boolean;
    }
  | { readonly kind: "already-ended"; readonly state: EndState }
  | StaleRegistration
  | { readonly kind: "unknown" };

export interface RerunInput {
  readonly env: string;
  readonly runId: string;
  readonly newRunId: string;
  readonly rank: number;
  readonly leaseTo: string | null;
  /** Limits and cancelling events hold for a rerun too; a rate limit, a singleton and buffers do not: a person asked. */
  readonly lane: LaneUse | null;
  readonly cancelOn: StartFlow["cancelOn"];
  /** Begin at this step: outcomes recorded before its own come along, it and all others run again. Absent: from the start. */
  readonly from?: {
    readonly stepId: string;
    /** The id its author wrote. */
    readonly name: string;
    /** JSON list of the arguments to run it with; null for its own. Inputs edited in the old run for steps not kept stay. */
    readonly input: string | null;
  };
}

export type RerunAnswer =
  | { readonly kind: "started"; readonly runId: string; readonly leased: LeasedJob | null }
  | { readonly kind: "unknown" };

// ---------------------------------------------------------------------------------------------------- claims

export interface ClaimInput {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** Made before the first try: asking again with the same token is the same asking. */
  readonly token: string;
  readonly fingerprint: string | null;
  readonly leaseMs: number;
  readonly windowMs: number;
  /** Kept beside the claim until it is settled, for whoever takes it over; absent for none. */
  readonly note?: string | null;
}

export type SettleAnswer = "settled" | "lost";

export interface ExtendInput {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  readonly fence: number;
  /** From now on; 0 lets the next asker take it over. */
  readonly leaseMs: number;
  /** In place of the one before. */
  readonly note: string | null;
}

export type ExtendAnswer = "extended" | "lost";

export interface AmendInput extends Audited {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** The claim as it was read and decided upon; null when there was none. */
  readonly over: Claim | null;
  /** Null for no claim at all: as if the key had never been asked for. */
  readonly to: ClaimChange | null;
  /** When a person decided: why, for the audit. Null when a holder or an asker did. */
  readonly reason: string | null;
}

/** `moved`: somebody wrote it meanwhile, and nothing happened here. */
export type AmendAnswer = "amended" | "moved";

export interface ReleaseInput extends Audited {
  readonly env: string;
  readonly scope: string;
  readonly key: string;
  /** The fence of the holder giving it back, or null when a person does, with a reason. */
  readonly fence: number | null;
  readonly reason: string;
}

export type ReleaseAnswer = "released" | "lost" | "unknown";

// ---------------------------------------------------------------------------------------------------- workers

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
  readonly queued: boolean;
}

// ---------------------------------------------------------------------------------------------------- prune

export interface PruneInput {
  readonly env: string;
  /** Events received before this instant, whose runs all ended before it. */
  readonly before: number;
  /** Continue after this event's id; "" from the oldest. */
  readonly after: string;
  /** At most this many rows go in one commit. */
  readonly max: number;
}

export interface PruneCounts {
  readonly events: number;
  readonly runs: number;
  readonly steps: number;
  readonly attempts: number;
  readonly decisions: number;
}

export interface PruneAnswer {
  readonly deleted: PruneCounts;
  /** Old enough, but still needed: an open run, an open window, a decision that waits for a person. */
  readonly kept: number;
  /** Where to continue; null when nothing older is left. */
  readonly after: string | null;
}

// ---------------------------------------------------------------------------------------------------- the contract

export interface Store {
  /**
   * Replaces the functions of one app. Promise: `registration` grows exactly when something changed.
   * Repeat: the same functions again change nothing.
   */
  register(input: RegisterInput): Promise<RegisterAnswer>;

  /**
   * Pauses a function, or lets it start runs again. Promise: `registration` grows exactly when something changed, so no event
   * is decided by an older picture afterwards; open runs go on. Repeat: the first pause's instant stands.
   */
  pause(input: PauseInput): Promise<PauseAnswer>;

  /**
   * Promise: every event of the call is stored and every pair has exactly one decision, in one commit; at most one run per
   * function and key inside a window; a duplicate event starts, resumes and extends nothing.
   * Repeat: an event already stored touches no claim and is answered from its stored decisions; jobs still as they were
   * born leased are answered again, for the first answer may never have arrived.
   */
  ingest(input: IngestInput): Promise<Ingested | StaleRegistration>;

  /**
   * Decides a pending event again: a held or paused one is released, or dropped. Promise: only while it is still pending, in one
   * commit with the run it starts. Repeat: `not-pending`, or the same run when the answer was lost.
   */
  redecide(input: RedecideInput): Promise<RedecideAnswer>;

  /**
   * Ticks of schedules. Promise: each instant of a schedule is decided at most once, whoever asks and whatever the clock did;
   * its event, decision and run are one commit. Repeat: a tick that is decided is not new.
   */
  tick(input: TickInput): Promise<Ticked | StaleRegistration>;

  /**
   * Promise: no limit is ever exceeded, and lanes that wait for one take turns. Buffers that are due become runs first.
   * Promise: due jobs nobody else holds, never before their time, never of a function not listed; waits whose time is over
   * are recorded as outcomes before the memo is read. Repeat: leases other jobs; an unknown answer ends with the worker.
   */
  lease(input: LeaseInput): Promise<LeaseAnswer>;

  /**
   * The one way a run moves. Promise: all of the patch or nothing, and only by the holder of the fence; a step has one
   * outcome for ever. Repeat: the same patch again gives the same outcomes; a repeated end answers `ended`… as `advanced`
   * when it was this fence that ended it.
   */
  advance(input: AdvanceInput): Promise<AdvanceAnswer>;

  /** Promise: each wait ends once, by this event or by something else. Repeat: a wait that is gone stays as it was decided. */
  resume(input: ResumeInput): Promise<ResumeAnswer>;

  /** Ends the one wait for this signal. Repeat: nobody waits any more. */
  signal(env: string, signal: string, outcome: Outcome): Promise<SignalAnswer>;

  /** Promise: after the answer no job or wait of the run exists and one end state stands. Repeat: `already-ended`. */
  cancel(input: CancelInput): Promise<CancelAnswer>;

  /** A person asks for a new run: past keys, with the old run's subject and generation; the key's holder becomes the new run. */
  rerun(input: RerunInput): Promise<RerunAnswer>;

  /** Promise: one fresh answer per window; an expired lease inside the window is taken over with a higher fence. */
  claim(input: ClaimInput): Promise<ClaimAnswer>;
  /** Gives a claim in flight another lease and another note, if the fence still holds. Repeat: the lease counts from the repeat. */
  extend(input: ExtendInput): Promise<ExtendAnswer>;
  /**
   * Writes a claim over the one a decision was made upon, for rules that no store knows. Promise: only while nobody else wrote it; how
   * often it was asked for may have changed. Repeat: `amended` again, with the times of the first.
   */
  amend(input: AmendInput): Promise<AmendAnswer>;
  /** Records the outcome if the fence still holds. Repeat: `settled` again. */
  settle(env: string, scope: string, key: string, fence: number, outcome: string): Promise<SettleAnswer>;
  /** Frees a key before its window ends; its generation stays. By hand, the reason is kept in the audit. */
  release(input: ReleaseInput): Promise<ReleaseAnswer>;

  /** Enlists the worker or extends the one lease that covers all its jobs. What it says about itself is kept until it says otherwise. */
  heartbeat(worker: string, termMs: number, about?: WorkerAbout): Promise<HeartbeatAnswer>;
  /** The worker stops: its jobs are due again at once, for anyone, and what it may still lease is rescued. Its name is spent. */
  handBack(worker: string): Promise<{ readonly count: number }>;
  /** One bounded pass of housekeeping: rescue, repair, reap. `repair` looks at every open run, so it is for now and then. */
  sweep(input: { readonly max: number; readonly repair: boolean }): Promise<SweepAnswer>;

  /**
   * Deletes history a person no longer wants. Promise: open runs, open windows and held events lose nothing, at most `max` rows
   * per commit, and an event goes only together with all its runs. Repeat: what is gone stays gone.
   */
  prune(input: PruneInput): Promise<PruneAnswer>;

  /**
   * Puts, replaces or removes a setting. Promise: only over the version it was decided with, if one is named; audited.
   * Repeat: the same value changes nothing.
   */
  set(input: SettingInput): Promise<SettingAnswer>;

  /**
   * Notes what the radar found, in the order given. Promise: pairs join the alert of their kind, function and `about` that is not
   * closed, or open one; a muted one counts and stays muted. Repeat: a pair is known by its later id, and counts once.
   */
  raise(input: RaiseInput): Promise<readonly Raised[]>;
  /** A person, or a fact, answers an alert. Promise: audited, with who and why. Repeat: the same judgement changes nothing. */
  judge(input: JudgeInput): Promise<JudgeAnswer>;
  /** Moves the radar on. Promise: of many nodes that read from one position, one moves it. Repeat: `moved` again. */
  follow(input: FollowInput): Promise<FollowAnswer>;

  /**
   * Keeps what a person did where no operation above keeps it. Asked once the thing is done, so it may be missing after a crash
   * in between. Repeat: kept again.
   */
  audit(input: AuditInput): Promise<AuditAnswer>;

  /**
   * Counts decisions by hour and function, oldest first, and notes the runs that slipped through. Promise: each decision is counted once,
   * at most `max` of them per commit. Repeat: goes on where the last one stopped.
   */
  count(input: CountInput): Promise<CountAnswer>;

  readonly reads: StoreReads;

  /** How processes that share this store hear of each other; null where only one process can have it. */
  readonly shared: StoreSharing | null;

  /** Events sent inside transactions of the user's; null where the user has no database in common with the store. */
  readonly outbox: StoreOutbox | null;

  /** Steps that are one transaction with the user's writes; null there, too. */
  readonly transactional: StoreTransactions | null;

  /** Waits for what was begun, then lets go of files and threads. */
  close(): Promise<void>;
}
