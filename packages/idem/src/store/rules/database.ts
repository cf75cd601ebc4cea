// The database as rules ask it. Statements that differ are kept by the database under one name (statements.ts), and so is what
// only one of them needs: locks and what is sent ahead on PostgreSQL, what the one owner of a file remembers on SQLite.

import type { Beside } from "../../flow/concurrency/beside.ts";
import type { LaneName, LaneUse } from "../../flow/lane.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { Claim, ClaimState, Instant } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import type { NewLog } from "../../model/log-line.ts";
import type { AdvanceInput, NewStep } from "../advance.ts";
import type { AuditInput } from "../audit.ts";
import type { EndedRun } from "../ends.ts";
import type { NewEvent, NewPair, StaleRegistration, StartPair } from "../ingest.ts";
import type { BufferRow, EventAnswer, FirstEvent, KeyAnswer } from "../rows.ts";
import type { Cell, Insertion } from "./insertion.ts";
import type { Asking, NewJob, NewRun } from "./new-run.ts";
import type { Asked } from "./rule.ts";
import type { Statements } from "./statements.ts";

export type Param = Cell | List;
/** Of texts, as its database takes it: made by `list`. */
export interface List {
  readonly texts: "a list";
}

export interface Database {
  readonly sql: Statements;
  one<Row>(sql: string, ...params: Param[]): Asked<Row | undefined>;
  all<Row>(sql: string, ...params: Param[]): Asked<Row[]>;
  /** For statements whose parameters have names; what they do not name is passed over. */
  find<Row>(sql: string, named: Readonly<Record<string, Param>>): Asked<Row[]>;
  /** A write, and how many rows it changed. */
  run(sql: string, ...params: Param[]): Asked<number>;
  /** A write whose answer nobody needs: PostgreSQL is sent it, and what follows does not wait for it. */
  write(sql: string, ...params: Param[]): void;
  /** A row more, together with the others of its kind. */
  add(into: Insertion, ...row: Cell[]): void;
  /** Asked all at once, answered in order. */
  together<T extends readonly unknown[]>(...asked: { readonly [K in keyof T]: Asked<T[K]> }): Asked<T>;
  list(texts: readonly string[]): List;
  /** The text as it stands in a column that is found by it. PostgreSQL's indexes take none that is long. */
  indexed(text: string): string;
  /** The first id an audit's entry of that time may have. */
  auditIdAt(ms: number): Cell;
  /** The one before which a page ends: a page's cursor, an instant, or whichever is earlier. */
  auditIdBefore(cursor: string | undefined, ms: number | null): Cell;
}

export interface RuleTransaction extends Database {
  /** The one instant of its commit. */
  readonly at: Instant;
  /** Grows with each call: the order of steps, waits and events. */
  stamp(): number;

  /** Others that ask for this turn wait until this transaction is over. SQLite has one writer: it is always its turn. */
  turn(name: string): Asked<void>;

  /** The claim of a key, which nobody else can have from here on. */
  findClaim(env: string, scope: string, key: string): Asked<FoundClaim | null>;
  writeClaim(env: string, claim: Claim, found: FoundClaim | null): void;
  /** Counts a duplicate. PostgreSQL writes the counts of a transaction at its end. */
  countAsking(env: string, found: FoundClaim): void;
  deleteClaim(env: string, found: FoundClaim): void;
  /** The run that answers for a taken key. PostgreSQL reads this and the next two once for all duplicates of a transaction. */
  answerForKey(env: string, holder: string, key: string): Asked<KeyAnswer>;
  /** The runs that answer for an event whose id is used again. */
  answersForEvent(env: string, eventId: string): Asked<readonly EventAnswer[]>;
  firstEvent(env: string, eventId: string): Asked<FirstEvent | undefined>;
  /** A decision of the event has changed in this transaction. */
  decidedAgain(env: string, eventId: string): void;
  /** Lets go of it if the run still has it. */
  closeClaim(env: string, claim: ClosedClaim, runId: string): Asked<void>;

  /** Takes the locks of a transaction ahead, everybody in one order; `closed`: claims that go with a run's end. */
  lockAhead(
    askings: readonly Asking[],
    closed: { readonly env: string; readonly claims: readonly ClosedClaim[] } | null,
  ): Asked<void>;
  /** The same for buffers that become runs. */
  lockFlushed(env: string, due: readonly BufferRow[]): Asked<void>;
  lockClaims(env: string, claims: readonly Pick<Claim, "scope" | "key">[]): Asked<void>;
  /** Takes the locks of a run that moves. Answers the claims that go with its end; null where one writer needs no locks. */
  lockMoved(input: AdvanceInput): Asked<readonly ClosedClaim[] | null>;
  /** A call that moves the run just now finishes first. */
  lockJob(env: string, runId: string): Asked<JobRow | undefined>;

  /** The run was waiting and is due. */
  woke(env: string, job: JobRow): void;
  /** A person let the run go on. */
  letGo(env: string, runId: string, lane: string | null): void;
  /** The slots of a leased job, and what it held beside; whether somebody may want them. */
  gaveBack(lane: string, beside: Beside): boolean;
  /** A leased job holds more beside its slots, or less; whether somebody may want what it gave back. */
  heldBeside(lane: string, before: Beside, after: Beside): boolean;
  /** The number in use of each. */
  slotUses(slots: readonly string[]): Asked<ReadonlyMap<string, number>>;
  /** Whether a run stands in line that would take one of them. */
  isInLine(env: string, slots: readonly string[]): Asked<boolean>;
  /** A run begins to wait for events of the name, or is cancelled by them from now on; the stamp is that of its row. */
  noteAwaited(env: string, eventName: string, stamp: number): void;
  /** Somebody waits for the run, and its end looks for him. True where it is known to be open. */
  awaitRun(env: string, runId: string): Asked<boolean>;
  /** False where nobody can be waiting for it. */
  mayHaveParent(env: string, runId: string): boolean;
  /** The run's end is of this commit, and counts. */
  ended(env: string, run: EndedRun): void;
  /** Everything any node records after this commit is later than what was recorded here. */
  keepStamps(): void;
  /** Whether this call recorded it. `worker`: null for what ended a wait or is news; `childRunId`: the run that was waited for. */
  recordStep(
    env: string,
    runId: string,
    step: NewStep,
    worker: string | null,
    childRunId: string | null,
  ): Asked<boolean>;
  /** Lines of its code. */
  saveLog(env: string, runId: string, log: NewLog): void;
  /** Workers that the job lost before no longer count. */
  noteProgress(env: string, jobId: string): void;

  mayHaveBuffers(): boolean;
  /** The buffer's row, made where there is none. */
  openBuffer(env: string, event: Event, pair: StartPair, rule: BufferRule): Asked<BufferRow>;

  audit(env: string, entry: Omit<AuditInput, "env">): void;

  addRun(env: string, run: NewRun, begins: boolean): void;
  addJob(env: string, job: NewJob): void;
  /** Whether a run that the pair starts says all there is to say about it, so that no decision is kept beside it. */
  isToldByRun(pair: StartPair): boolean;
  laneNamed(name: string): LaneName;
  /** Whether a run of this lane could begin at once, by its slots, without stepping before another one of the lane. Locks the slots. */
  hasRoom(env: string, lane: LaneUse): Asked<boolean>;
  /** Everything recorded here from now on has a later stamp than this. */
  sawStamp(stamp: number): void;

  /** Whether it was not there before. `pairs`: what it may start. */
  storeEvent(env: string, event: NewEvent, pairs: readonly NewPair[]): Asked<boolean>;
  /** Stored a moment ago for many calls of this transaction at once, and the turn of its call is yet to come. */
  isStoredAhead(env: string, eventId: string): boolean;
  /** Whether a run waits for events of this one's name, or is cancelled by them. The event is stored. */
  isAwaited(env: string, event: Pick<NewEvent, "id" | "name">): Asked<boolean>;
  /** The same before the event is stored. Also true while another transaction may be about to begin such a wait. */
  mayBeAwaited(env: string, eventName: string): Asked<boolean>;
  /** PostgreSQL stores a new one: of two calls at once, only one finds it new. */
  isNewEvent(env: string, event: NewEvent): Asked<boolean>;

  registration(env: string): Asked<number>;
  /** Whether functions changed since something was decided by that registration; null for what is not to be asked. */
  staleRegistration(env: string, registration: number | null): Asked<StaleRegistration | null>;
  noteRegistration(env: string, registration: number): void;

  /** Nothing that is written over or deleted here stays in the file. */
  secretly(write: () => void): void;
}

export interface JobRow {
  readonly fn: string;
  readonly leased_by: string | null;
  readonly lane: string | null;
  readonly parked_at: number | null;
}

/** A claim that goes with a run's end, and how. */
export interface ClosedClaim {
  readonly scope: string;
  readonly key: string;
  readonly state: ClaimState;
}

export interface FoundClaim {
  readonly claim: Claim;
  /** SQLite's number of it; PostgreSQL has it by its key. */
  readonly row: number;
}
