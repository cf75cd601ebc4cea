// The store: where facts live. One contract, several stores behind it (memory, SQLite, PostgreSQL), one suite that checks them all
// (store/contract/). Inputs and answers of the operations stand in a file per noun beside this one.
//
// Every write is one transaction, takes ids that were made before the first try, and may be called twice: the second call
// finds its own facts and gives the same answer. User code and CEL never run inside a store, but for the body of a step that is a
// transaction (transactional.ts), and a store never chooses between policies: it compares keys, times, counters and fences.
//
// `now` is the store's own clock: it never goes backwards, and it alone decides windows, leases and due times.

import type { ClaimAnswer } from "../model/claim.ts";
import type { Outcome } from "../model/step.ts";
import type { AdvanceAnswer, AdvanceInput } from "./advance.ts";
import type { FollowAnswer, FollowInput, JudgeAnswer, JudgeInput, Raised, RaiseInput } from "./alerts.ts";
import type { AuditAnswer, Audited, AuditInput } from "./audit.ts";
import type { Published, PublishInput } from "./channels.ts";
import type {
  AmendAnswer,
  AmendInput,
  ClaimInput,
  ExtendAnswer,
  ExtendInput,
  ReleaseAnswer,
  ReleaseInput,
  SettleAnswer,
} from "./claims.ts";
import type { CountAnswer, CountInput } from "./counts.ts";
import type { RedecideAnswer, RedecideInput, Ticked, TickInput } from "./flow.ts";
import type { PauseAnswer, PauseInput, RegisterAnswer, RegisterInput } from "./functions.ts";
import type { Ingested, IngestInput, StaleRegistration } from "./ingest.ts";
import type { HeartbeatAnswer, LeaseAnswer, LeaseInput, SweepAnswer } from "./leases.ts";
import type { AnnotateAnswer, AnnotateInput } from "./metadata.ts";
import type { StoreOutbox } from "./outbox.ts";
import type { PruneAnswer, PruneInput } from "./prune.ts";
import type { StoreReads } from "./reads.ts";
import type { CancelAnswer, CancelInput, RerunAnswer, RerunInput, UnparkAnswer, UnparkInput } from "./runs.ts";
import type { SettingAnswer, SettingInput } from "./settings.ts";
import type { StoreSharing, WorkerAbout } from "./sharing.ts";
import type { StoreTransactions } from "./transactional.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "./waits.ts";

/** The operations: everything of a store that changes it. */
export type StoreWrites = Omit<Store, "reads" | "shared" | "outbox" | "transactional" | "close">;

const writes: Readonly<Record<keyof StoreWrites, true>> = {
  register: true,
  pause: true,
  redecide: true,
  tick: true,
  resume: true,
  signal: true,
  cancel: true,
  rerun: true,
  unpark: true,
  claim: true,
  extend: true,
  amend: true,
  settle: true,
  release: true,
  set: true,
  count: true,
  raise: true,
  judge: true,
  follow: true,
  audit: true,
  ingest: true,
  lease: true,
  advance: true,
  annotate: true,
  publish: true,
  heartbeat: true,
  handBack: true,
  sweep: true,
  prune: true,
};

export const operationNames = Object.keys(writes) as readonly (keyof StoreWrites)[];

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
   * function and key inside a window; a duplicate event starts, resumes and extends nothing; audited where a person sent them.
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
   * outcome for ever; slots held beside its own are within their limits as leases are. Repeat: the same patch again gives the same outcomes; a repeated end answers `ended`… as `advanced`
   * when it was this fence that ended it.
   */
  advance(input: AdvanceInput): Promise<AdvanceAnswer>;

  /** Promise: each wait ends once, by this event or by something else. Repeat: a wait that is gone stays as it was decided. */
  resume(input: ResumeInput): Promise<ResumeAnswer>;

  /** Ends the one wait for this signal; audited where a person raised it. Repeat: nobody waits any more. */
  signal(env: string, signal: string, outcome: Outcome, byHand?: Audited): Promise<SignalAnswer>;

  /**
   * Promise: after the answer no job or wait of the run exists and one end state stands; audited where a person asked.
   * Repeat: `already-ended`.
   */
  cancel(input: CancelInput): Promise<CancelAnswer>;

  /**
   * A person asks for a new run: past keys, with the old run's subject and generation; the key's holder becomes the new run.
   * Promise: audited in the same commit. Repeat: the same run, and no second entry.
   */
  rerun(input: RerunInput): Promise<RerunAnswer>;

  /**
   * A person lets a parked run go on. Promise: due at once, workers lost before no longer counted, audited in the same commit. Repeat:
   * `not-parked`, and no second entry.
   */
  unpark(input: UnparkInput): Promise<UnparkAnswer>;

  /**
   * Keeps what an app says about a run or its steps, for people. Promise: all changes or none; merged with what is there by step and kind.
   * Repeat: the same changes nothing.
   */
  annotate(input: AnnotateInput): Promise<AnnotateAnswer>;

  /**
   * Leaves messages in a channel, for its readers. Promise: all of them or none, at the next places, in the order of commits; what the
   * bounds of a channel leave no room for goes, the oldest first. Repeat: the same places, as long as the messages are kept.
   */
  publish(input: PublishInput): Promise<Published>;

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
   * Keeps what a person did where no operation above keeps it: what happened outside the store, or in several commits. Asked once the thing
   * is done, it may be missing after a crash in between; what can wait is asked for first. Repeat: kept again.
   */
  audit(input: AuditInput): Promise<AuditAnswer>;

  /**
   * Counts decisions by hour and function, oldest first, and notes the runs that slipped through. Promise: each decision is counted once,
   * at most `max` of them per commit. Repeat: goes on where the last one stopped.
   */
  count(input: CountInput): Promise<CountAnswer>;

  readonly reads: StoreReads;

  /** Lets processes that share this store hear of each other; null where only one process can have it. */
  readonly shared: StoreSharing | null;

  /** Events sent inside transactions of the user's; null where the user has no database in common with the store. */
  readonly outbox: StoreOutbox | null;

  /** Steps that are one transaction with the user's writes; null there, too. */
  readonly transactional: StoreTransactions | null;

  /** Waits for what was begun, then lets go of files and threads. */
  close(): Promise<void>;
}
