// A transaction as the rules have it. What one writer gives SQLite for nothing is a lock here (decision 15), taken where the rule asks for
// what it guards, or ahead of it.

import type { Beside } from "../../flow/concurrency/beside.ts";
import { type LaneName, type LaneUse, readLane } from "../../flow/lane.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { Claim, Instant } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import type { NewLog } from "../../model/log-line.ts";
import type { AdvanceInput, NewStep } from "../advance.ts";
import type { AuditInput } from "../audit.ts";
import type { EndedRun } from "../ends.ts";
import type { NewEvent, StaleRegistration, StartPair } from "../ingest.ts";
import type { BufferRow, EventAnswer, FirstEvent, KeyAnswer } from "../rows.ts";
import { noteEnds } from "../rules/count-ends.ts";
import type { ClosedClaim, FoundClaim, JobRow } from "../rules/database.ts";
import { bufferId, bufferTimes, findBuffer } from "../rules/fill-buffer.ts";
import type { NewJob, NewRun } from "../rules/new-run.ts";
import { answersForEvent, answersForKey, findEvent } from "../rules/read-memo.ts";
import { registrationOf, staleness } from "../rules/register-functions.ts";
import { type Asked, Given, type Rule, Sent } from "../rules/rule.ts";
import { lockMoved } from "./advance-run.ts";
import {
  countAsking,
  deleteClaim,
  findClaim,
  type KnownClaim,
  lockClaim,
  lockClaims,
  writeClaim,
} from "./claim-key.ts";
import type { Connection } from "./connection.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { insertJob, insertRun } from "./insert-run.ts";
import { answerId } from "./kept-answers.ts";
import { isInLine, type LaneTurns } from "./lane-round.ts";
import { hasRoom, hasSlots, slotUses } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { bufferName } from "./lock-buffers.ts";
import { lockName } from "./lock-name.ts";
import type { RankFloors } from "./rank-floors.ts";
import { insertStep } from "./record-step.ts";
import { RuleDatabase } from "./rule-database.ts";
import { saveLog } from "./save-log.ts";
import { storeEvent, storeInTurn } from "./store-event.ts";
import { inEnv, nothingAhead, type Transaction } from "./transaction.ts";
import type { NewListener, WaitChecks } from "./wait-checks.ts";
import { writeAudit } from "./write-audit.ts";

const pairsOfAllSql = `
  select pair from buffer_items where env = ? and buffer_id = any(cast(? as text[])) and pair is not null order by buffer_id, n`;
const lockJobSql = "select fn, leased_by, lane, parked_at from jobs where env = ? and id = ? for update";
/** No row when it has ended. */
const awaitRunSql = "update runs set awaited = 1 where env = ? and id = ? and ended_state is null";
const insertBufferSql = `
  insert into buffers (env, fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair)
  values (?, ?, ?, ?, ?, ?, ?, 0, 0, null, null, null)
  on conflict (env, fn, kind, key) do nothing`;

type Rest<F> = F extends (tx: never, ...input: infer I) => unknown ? I : never;

export interface Begun {
  readonly connection: Connection;
  readonly at: Instant;
  readonly clock: DatabaseClock;
  readonly turns: LaneTurns;
  readonly floors: RankFloors;
  /** Stamps are ahead of the server's clock. */
  readonly isAhead: boolean;
  readonly waitChecks: WaitChecks;
  /** By which `waitChecks` knows when it began. */
  readonly attempt: number;
}

export class StoreTransaction extends RuleDatabase implements Transaction {
  readonly at: Instant;
  readonly turns: LaneTurns;
  readonly floors: RankFloors;
  readonly claims = new Map<string, KnownClaim>();
  readonly ahead = nothingAhead();
  readonly waitChecks: WaitChecks;
  readonly listeners = new Map<string, NewListener>();

  constructor(private readonly begun: Begun) {
    super(begun.connection);
    this.at = begun.at;
    this.turns = begun.turns;
    this.floors = begun.floors;
    this.waitChecks = begun.waitChecks;
  }

  /** Its waits, its rules that cancel and its slots go with it: what was read of them ahead is read again. */
  ended(env: string, run: EndedRun): void {
    noteEnds(this, env, [run]);
    const { awaited, lanes, uses, answers } = this.ahead;
    for (const each of [awaited, lanes, uses, answers.keys]) each.clear();
  }

  stamp(): number {
    return this.begun.clock.stamp();
  }

  sawStamp(stamp: number): void {
    this.begun.clock.sawStamp(stamp);
  }

  keepStamps(): void {
    if (this.begun.isAhead) this.begun.clock.writeStamps(this.connection);
  }

  keepTime(): void {
    this.begun.clock.writeFloor(this.connection, this.at.now);
  }

  turn(name: string): Asked<void> {
    return new Sent(lockName(this, name));
  }

  *findClaim(env: string, scope: string, key: string): Rule<FoundClaim | null> {
    const claim = yield* new Sent(findClaim(this, env, scope, key));
    return claim === null ? null : { claim, row: 0 };
  }

  writeClaim(env: string, claim: Claim): void {
    writeClaim(this, env, claim);
  }

  countAsking(env: string, { claim }: FoundClaim): void {
    countAsking(this, env, claim);
  }

  deleteClaim(env: string, { claim }: FoundClaim): void {
    deleteClaim(this, env, claim);
  }

  *answerForKey(env: string, holder: string, key: string): Rule<KeyAnswer> {
    const { keys } = this.ahead.answers;
    const id = answerId(env, holder, key);
    const known = keys.get(id);
    if (known !== undefined) return known;
    const answer = yield* answersForKey(this, env, holder, key);
    keys.set(id, answer);
    return answer;
  }

  *answersForEvent(env: string, eventId: string): Rule<readonly EventAnswer[]> {
    const { decisions } = this.ahead.answers;
    const id = inEnv(env, eventId);
    const known = decisions.get(id);
    if (known !== undefined) return known;
    const answers = yield* answersForEvent(this, env, eventId);
    decisions.set(id, answers);
    return answers;
  }

  *firstEvent(env: string, eventId: string): Rule<FirstEvent | undefined> {
    const { events } = this.ahead.answers;
    const id = inEnv(env, eventId);
    if (events.has(id)) return events.get(id);
    const first = yield* findEvent(this, env, eventId);
    events.set(id, first);
    return first;
  }

  decidedAgain(env: string, eventId: string): void {
    this.ahead.answers.decisions.delete(inEnv(env, eventId));
  }

  *closeClaim(env: string, { scope, key, state }: ClosedClaim, runId: string): Rule<void> {
    const claim = yield* new Sent(lockClaim(this, env, scope, key));
    if (claim?.holder === runId && claim.state === "in-flight") writeClaim(this, env, { ...claim, state, held: false });
  }

  lockAhead(...input: Rest<typeof lockAhead>): Asked<void> {
    return new Sent(lockAhead(this, ...input));
  }

  *lockFlushed(env: string, due: readonly BufferRow[]): Rule<void> {
    const ids = this.list(due.map(({ id }) => id));
    const stored = yield* this.all<{ pair: string }>(pairsOfAllSql, env, ids);
    const pairs = [...stored, ...due].flatMap(({ pair }) => (pair === null ? [] : [JSON.parse(pair) as StartPair]));
    yield* this.lockAhead([{ env, events: [], pairs }]);
  }

  lockClaims(env: string, claims: readonly Pick<Claim, "scope" | "key">[]): Asked<void> {
    return new Sent(lockClaims(this, env, claims));
  }

  lockMoved(input: AdvanceInput): Asked<readonly ClosedClaim[]> {
    return new Sent(lockMoved(this, input));
  }

  lockJob(env: string, runId: string): Asked<JobRow | undefined> {
    return this.one<JobRow>(lockJobSql, env, runId);
  }

  woke(): void {}

  letGo(env: string): void {
    this.floors.queued(env, this.at.now);
  }

  gaveBack(lane: string): boolean {
    return hasSlots(lane);
  }

  heldBeside(_lane: string, before: Beside, after: Beside): boolean {
    return after[0] < before[0] || after[1] < before[1];
  }

  slotUses(slots: readonly string[]): Asked<ReadonlyMap<string, number>> {
    return new Sent(slotUses(this, slots));
  }

  isInLine(env: string, slots: readonly string[]): Asked<boolean> {
    return new Sent(isInLine(this, env, slots));
  }

  noteAwaited(env: string, eventName: string, stamp: number): void {
    this.watch([{ env, name: eventName, stamp }]);
  }

  watch(names: readonly NewListener[]): void {
    this.waitChecks.require(this.begun.attempt, names);
    for (const watched of names) {
      const key = inEnv(watched.env, watched.name);
      // Stamps grow: the first one of a name is the smallest.
      if (!this.listeners.has(key)) this.listeners.set(key, watched);
      this.ahead.awaited.delete(key);
    }
  }

  *awaitRun(env: string, runId: string): Rule<boolean> {
    return (yield* this.run(awaitRunSql, env, runId)) > 0;
  }

  /** Only the rows know: other nodes wait too. */
  mayHaveParent(): boolean {
    return true;
  }

  *recordStep(
    env: string,
    runId: string,
    step: NewStep,
    worker: string | null,
    childRunId: string | null,
  ): Rule<boolean> {
    const owner = { env, runId, worker, childRunId };
    return (yield* new Sent(insertStep(this.connection, this.stamp(), owner, step))) !== null;
  }

  saveLog(env: string, runId: string, log: NewLog): void {
    saveLog(this, env, runId, log);
  }

  /** Only the rows know. */
  noteProgress(): void {}

  mayHaveBuffers(): boolean {
    return true;
  }

  *openBuffer(env: string, event: Event, { fn }: StartPair, rule: BufferRule): Rule<BufferRow> {
    this.ahead.emptyBuffers.delete(bufferName(env, fn, rule));
    const { dueAt, deadline } = bufferTimes(rule, this.at.now);
    for (;;) {
      const found = yield* findBuffer(this, env, fn, rule);
      if (found !== undefined) return found;
      this.write(insertBufferSql, env, fn, rule.kind, rule.key, bufferId(event.id, fn), deadline, dueAt);
    }
  }

  addRun(env: string, run: NewRun, begins: boolean): void {
    insertRun(this, env, run, begins);
    const { id, key, eventId, carried } = run;
    if (key === null || carried !== null) return;
    this.ahead.answers.keys.set(answerId(env, id, key), { runId: id, ended: null, firstEventId: eventId });
  }

  addJob(env: string, job: NewJob): void {
    insertJob(this, env, job);
  }

  laneNamed(name: string): LaneName {
    return readLane(name);
  }

  hasRoom(env: string, { name, caps }: LaneUse): Asked<boolean> {
    return new Sent(hasRoom(this, env, name, caps));
  }

  storeEvent(env: string, event: NewEvent): Asked<boolean> {
    return new Sent(storeInTurn(this, env, event));
  }

  /** Readers find decisions in the order of an index (docs/decisions/0055). */
  isToldByRun(): boolean {
    return false;
  }

  isStoredAhead(env: string, eventId: string): boolean {
    return this.ahead.events.get(inEnv(env, eventId)) === true;
  }

  isAwaited(env: string, event: Pick<NewEvent, "id" | "name">): Asked<boolean> {
    const known = this.ahead.awaited.get(inEnv(env, event.name));
    if (known !== undefined) return new Given(known);
    return new Sent<boolean>(this.waitChecks.isAwaited(this, env, event));
  }

  mayBeAwaited(env: string, eventName: string): Asked<boolean> {
    return new Sent(this.waitChecks.mayBeAwaited(this, env, eventName));
  }

  *isNewEvent(env: string, event: NewEvent): Rule<boolean> {
    const isNew = yield* new Sent(storeEvent(this, env, event));
    if (isNew) this.ahead.events.set(inEnv(env, event.id), true);
    return isNew;
  }

  audit(env: string, entry: Omit<AuditInput, "env">): void {
    writeAudit(this, env, entry);
  }

  registration(env: string): Asked<number> {
    const known = this.ahead.registrations.get(env);
    return known === undefined ? registrationOf(this, env) : new Given(known);
  }

  *staleRegistration(env: string, registration: number | null): Rule<StaleRegistration | null> {
    return registration === null ? null : staleness(registration, yield* this.registration(env));
  }

  /** Read again by whoever asks next. */
  noteRegistration(): void {}

  secretly(write: () => void): void {
    write();
  }
}
