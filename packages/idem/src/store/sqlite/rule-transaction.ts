// A transaction as the rules have it. One process owns the file and one writer is at work, so nothing is locked; the owner's pictures of
// the file (known-facts.ts, lane-book.ts, claim-index.ts) are brought up to date here.

import type { Beside } from "../../flow/concurrency/beside.ts";
import type { LaneName, LaneUse } from "../../flow/lane.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { Claim, Instant } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import type { NewLog } from "../../model/log-line.ts";
import type { AuditInput } from "../audit.ts";
import type { StoreClock } from "../clock.ts";
import type { EndedRun } from "../ends.ts";
import type { NewEvent, StaleRegistration, StartPair } from "../ingest.ts";
import type { BufferRow, EventAnswer, FirstEvent, KeyAnswer } from "../rows.ts";
import { noteEnds } from "../rules/count-ends.ts";
import type { ClosedClaim, FoundClaim, JobRow } from "../rules/database.ts";
import { bufferId, bufferTimes, findBuffer } from "../rules/fill-buffer.ts";
import type { NewJob, NewRun } from "../rules/new-run.ts";
import { answersForEvent, answersForKey, findEvent } from "../rules/read-memo.ts";
import { staleness } from "../rules/register-functions.ts";
import { type Asked, driveAtOnce, Given, nothing } from "../rules/rule.ts";
import type { ClaimIndex } from "./claim-index.ts";
import { countAsking, deleteClaim, findClaim, writeClaim } from "./claim-key.ts";
import type { Connection } from "./connection.ts";
import { insertJob, insertRun } from "./insert-run.ts";
import type { KnownFacts } from "./known-facts.ts";
import type { LaneBook } from "./lane-book.ts";
import type { LeasableFunctions } from "./leasable-functions.ts";
import { insertStep } from "./record-step.ts";
import { RuleDatabase } from "./rule-database.ts";
import { saveLog } from "./save-log.ts";
import { isAwaited, isToldByRun, storeEvent } from "./store-event.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const closeClaimSql = `
  update claims set state = ?, held = 0
   where n = ? and holder = ? and state = 'in-flight'`;
const selectJobSql = "select fn, leased_by, lane, parked_at from jobs where env = ? and id = ?";
const insertBufferSql = `
  insert into buffers (env, fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair)
  values (?, ?, ?, ?, ?, ?, ?, 0, 0, null, null, null)`;

const yes = new Given(true);
const no = new Given(false);
const none = new Given(null);

type Rest<F> = F extends (tx: never, ...input: infer I) => unknown ? I : never;

export interface Owned {
  readonly connection: Connection;
  readonly clock: StoreClock;
  readonly monoMs: () => number;
  readonly known: KnownFacts;
  readonly claims: ClaimIndex;
  readonly lanes: LaneBook;
  readonly leasable: LeasableFunctions;
}

export class StoreTransaction extends RuleDatabase implements Transaction {
  readonly known: KnownFacts;
  readonly claims: ClaimIndex;
  readonly lanes: LaneBook;
  readonly leasable: LeasableFunctions;
  readonly monoMs: () => number;
  private readonly clock: StoreClock;
  private readonly noted: { readonly env: string; readonly run: EndedRun }[] = [];

  constructor(
    owned: Owned,
    readonly at: Instant,
  ) {
    super(owned.connection);
    this.known = owned.known;
    this.claims = owned.claims;
    this.lanes = owned.lanes;
    this.leasable = owned.leasable;
    this.clock = owned.clock;
    this.monoMs = owned.monoMs;
  }

  ended(env: string, run: EndedRun): void {
    this.noted.push({ env, run });
  }

  /** Number of ends of this commit that were noted so far. */
  get endMark(): number {
    return this.noted.length;
  }

  /** The ends noted after the mark were undone. */
  undoEnds(mark: number): void {
    this.noted.length = mark;
  }

  /** Those of a whole batch in one row for each function: a page more to write for a commit, not for a run. */
  writeEnds(): void {
    if (this.noted.length === 0) return;
    const places = new Map<string, { readonly env: string; readonly runs: EndedRun[] }>();
    for (const { env, run } of this.noted) {
      const name = `${env}\n${run.fn}`;
      const place = places.get(name);
      if (place === undefined) places.set(name, { env, runs: [run] });
      else place.runs.push(run);
    }
    for (const { env, runs } of places.values()) noteEnds(this, env, runs);
  }

  stamp(): number {
    return this.clock.stamp();
  }

  turn(): Asked<void> {
    return nothing;
  }

  findClaim(env: string, scope: string, key: string): Asked<FoundClaim | null> {
    return new Given(findClaim(this, env, scope, key));
  }

  writeClaim(env: string, claim: Claim, found: FoundClaim | null): void {
    writeClaim(this, env, claim, found);
  }

  countAsking(_env: string, found: FoundClaim): void {
    countAsking(this, found);
  }

  deleteClaim(env: string, found: FoundClaim): void {
    deleteClaim(this, env, found);
  }

  answerForKey(env: string, holder: string, key: string): Asked<KeyAnswer> {
    return answersForKey(this, env, holder, key);
  }

  answersForEvent(env: string, eventId: string): Asked<readonly EventAnswer[]> {
    return answersForEvent(this, env, eventId);
  }

  firstEvent(env: string, eventId: string): Asked<FirstEvent | undefined> {
    return findEvent(this, env, eventId);
  }

  /** Its decisions are read anew by each duplicate. */
  decidedAgain(): void {}

  closeClaim(env: string, { scope, key, state }: ClosedClaim, runId: string): Asked<void> {
    const n = this.claims.find(env, scope, key);
    if (n !== undefined) this.connection.run(closeClaimSql, state, n, runId);
    return nothing;
  }

  lockAhead(): Asked<void> {
    return nothing;
  }

  lockMoved(): Asked<null> {
    return none;
  }

  lockFlushed(): Asked<void> {
    return nothing;
  }

  lockClaims(): Asked<void> {
    return nothing;
  }

  lockJob(env: string, runId: string): Asked<JobRow | undefined> {
    return this.one<JobRow>(selectJobSql, env, runId);
  }

  woke(env: string, { lane, leased_by, parked_at }: JobRow): void {
    if (lane !== null && leased_by === null && parked_at === null) this.lanes.join(env, lane);
  }

  letGo(env: string, runId: string, lane: string | null): void {
    this.known.noteProgress(env, runId);
    if (lane !== null) this.lanes.join(env, lane);
  }

  gaveBack(lane: string, [first, second]: Beside): boolean {
    return this.lanes.giveBack(lane, first, second);
  }

  heldBeside(lane: string, before: Beside, after: Beside): boolean {
    return this.lanes.holdBeside(lane, before, after);
  }

  slotUses(slots: readonly string[]): Asked<ReadonlyMap<string, number>> {
    return new Given(this.lanes.usesOf(slots));
  }

  isInLine(_env: string, slots: readonly string[]): Asked<boolean> {
    return new Given(this.lanes.isInLine(slots));
  }

  noteAwaited(env: string, eventName: string): void {
    this.known.noteAwaited(env, eventName);
  }

  awaitRun(env: string, runId: string): Asked<boolean> {
    this.known.noteParent(env, runId);
    return no;
  }

  mayHaveParent(env: string, runId: string): boolean {
    return this.known.mayHaveParent(env, runId);
  }

  /** One process has the file, and one clock. */
  keepStamps(): void {}

  recordStep(...input: Rest<typeof insertStep>): Asked<boolean> {
    return insertStep(this, ...input) ? yes : no;
  }

  saveLog(env: string, runId: string, log: NewLog): void {
    saveLog(this, env, runId, log);
  }

  noteProgress(env: string, jobId: string): void {
    this.known.noteProgress(env, jobId);
  }

  mayHaveBuffers(): boolean {
    return this.known.mayHaveBuffers();
  }

  openBuffer(env: string, event: Event, { fn }: StartPair, rule: BufferRule): Asked<BufferRow> {
    const found = driveAtOnce(findBuffer(this, env, fn, rule));
    if (found !== undefined) return new Given(found);
    const { kind, key } = rule;
    const { dueAt, deadline } = bufferTimes(rule, this.at.now);
    const id = bufferId(event.id, fn);
    this.known.noteBuffer();
    this.connection.run(insertBufferSql, env, fn, kind, key, id, deadline, dueAt);
    const empty = { count: 0, bytes: 0, event_id: null, ts: null, pair: null };
    return new Given({ fn, kind, key, id, deadline, due_at: dueAt, ...empty });
  }

  addRun(env: string, run: NewRun, begins: boolean): void {
    insertRun(this, env, run, begins);
  }

  addJob(env: string, job: NewJob): void {
    insertJob(this, env, job);
  }

  laneNamed(name: string): LaneName {
    return this.lanes.nameOf(name);
  }

  hasRoom(env: string, { name, caps }: LaneUse): Asked<boolean> {
    this.lanes.noteCaps(env, this.lanes.nameOf(name).fn, caps);
    return this.lanes.hasRoom(env, name, caps) ? yes : no;
  }

  /** Stamps of one process follow each other. */
  sawStamp(): void {}

  storeEvent(...input: Rest<typeof storeEvent>): Asked<boolean> {
    return storeEvent(this, ...input) ? yes : no;
  }

  isToldByRun(pair: StartPair): boolean {
    return isToldByRun(pair);
  }

  /** A batch is one call after the other. */
  isStoredAhead(): boolean {
    return false;
  }

  isAwaited(env: string, { name }: Pick<NewEvent, "name">): Asked<boolean> {
    return this.mayBeAwaited(env, name);
  }

  /** One transaction at a time: none other can be about to begin a wait. */
  mayBeAwaited(env: string, eventName: string): Asked<boolean> {
    return isAwaited(this, env, eventName) ? yes : no;
  }

  isNewEvent(env: string, { id }: NewEvent): Asked<boolean> {
    return new Given(driveAtOnce(findEvent(this, env, id)) === undefined);
  }

  audit(env: string, entry: Omit<AuditInput, "env">): void {
    writeAudit(this, env, entry);
  }

  registration(env: string): Asked<number> {
    return new Given(this.known.registration(env));
  }

  staleRegistration(env: string, registration: number | null): Asked<StaleRegistration | null> {
    const stale = staleness(registration, this.known.registration(env));
    return stale === null ? none : new Given(stale);
  }

  noteRegistration(env: string, registration: number): void {
    this.known.noteRegistration(env, registration);
  }

  secretly(write: () => void): void {
    const { db } = this.connection;
    db.exec("pragma secure_delete = ON");
    try {
      write();
    } finally {
      db.exec("pragma secure_delete = OFF");
    }
  }
}
