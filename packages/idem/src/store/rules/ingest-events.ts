// Events become decisions, claims, runs and jobs in one commit, event by event, first wins by order.
// Repeat: an event that is already stored touches no claim and is answered from its stored decisions.
import type { BufferRule } from "../../flow/plan.ts";
import { askFor, type Claim, eventIdAsk } from "../../model/claim.ts";
import { type Decision, decidedOutright } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import type { NestedIngest } from "../advance.ts";
import { sentSubject } from "../audit.ts";
import type { Ingested, IngestInput, NewEvent, NewPair, StaleRegistration, StartPair } from "../ingest.ts";
import { readDecision, readEvent } from "../rows.ts";
import { answerOf, newWriting, type Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { fillBuffer } from "./fill-buffer.ts";
import { type Insertion, insertion } from "./insertion.ts";
import { keptEvents } from "./kept-events.ts";
import type { Start } from "./new-run.ts";
import { bornLeased, isBornLeased } from "./open-run.ts";
import { decisionsOfEvent, findEvent } from "./read-memo.ts";
import { noteFirst, recordDecision } from "./record-decision.ts";
import { Given, type Rule } from "./rule.ts";
import { startRun } from "./start-run.ts";

const newValues = insertion(
  "event_values",
  { env: "text", event_id: "text", path: "text", name: "text", word: "text", value: "text" },
  "on conflict do nothing",
);

// A column that is set once, on a row that nobody else has read yet: PostgreSQL sets it for all duplicates together, as it adds rows. The events are
// there, so nothing is inserted: a conflict looks each row up by its key, while an update that joins 5,000 of them compares all with all (3 s).
const linksToFirst: Insertion = {
  width: 3,
  one: "update events set first_event_id = ? where env = ? and id = ?",
  many: `
    insert into events (env, id, name, data, ts, received_at, stamp, first_event_id)
    select env, id, '', '', 0, 0, 0, first_event_id
      from unnest(cast(? as text[]), cast(? as text[]), cast(? as text[])) as given (first_event_id, env, id)
    on conflict (env, id) do update set first_event_id = excluded.first_event_id`,
};

export function* ingestEvents(tx: RuleTransaction, input: IngestInput): Rule<Ingested | StaleRegistration> {
  const { env, events, pairs, leaseTo, byHand } = input;
  const stale = yield* tx.staleRegistration(env, input.registration);
  // A repeat is answered from what it stored, whatever was registered since: deciding again would forget who was to execute it.
  if (stale !== null && !(yield* isRepeat(tx, input))) return stale;
  if (byHand !== undefined && !(yield* isRepeat(tx, input))) {
    tx.audit(env, { action: "send-events", subject: sentSubject(events), ...byHand });
  }
  const out = newWriting();
  yield* ingestInto(tx, env, events, pairs, leaseTo, out);
  return answerOf(out, tx.at.now);
}

/** A call is stored whole, so its first event speaks for all of it. */
function* isRepeat(tx: RuleTransaction, { env, events }: IngestInput): Rule<boolean> {
  const [first] = events;
  if (first === undefined || tx.isStoredAhead(env, first.id)) return false;
  return (yield* findEvent(tx, env, first.id)) !== undefined;
}

/** Events that a step or a run sends in its own transaction. Those nobody listens to are not stored at all. */
export function* ingestNested(tx: RuleTransaction, env: string, nested: NestedIngest): Rule<Ingested> {
  // All are asked before the first is waited for.
  const asked = nested.events.map(({ name, ifAwaited }) => (ifAwaited === true ? tx.mayBeAwaited(env, name) : yes));
  const kept: boolean[] = [];
  for (const each of asked) kept.push(yield* each);
  const { events, pairs } = keptEvents(nested, kept);
  const out = newWriting();
  // An end that nobody waits for sends nothing.
  if (events.length > 0) yield* ingestInto(tx, env, events, pairs, null, out);
  return answerOf(out, tx.at.now);
}

const yes = new Given(true);

export function* ingestInto(
  tx: RuleTransaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Rule<void> {
  const pairsOf = byEvent(pairs);
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!;
    const own = pairsOf.get(i) ?? noPairs;
    if (yield* tx.storeEvent(env, event, own)) yield* decideEvent(tx, env, event, own, deliverTo, out);
    else yield* answerAgain(tx, env, event.id, own, deliverTo, out);
  }
}

const noPairs: readonly NewPair[] = [];

/** In the order in which their decisions will be read again. */
function byEvent(pairs: readonly NewPair[]): ReadonlyMap<number, readonly NewPair[]> {
  const pairsOf = new Map<number, NewPair[]>();
  for (const pair of pairs) {
    const list = pairsOf.get(pair.event);
    if (list === undefined) pairsOf.set(pair.event, [pair]);
    else list.push(pair);
  }
  for (const list of pairsOf.values()) if (list.length > 1) list.sort((a, b) => (a.fn < b.fn ? -1 : 1));
  return pairsOf;
}

function* decideEvent(
  tx: RuleTransaction,
  env: string,
  given: NewEvent,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Rule<void> {
  addValues(tx, env, given);
  const ask = given.callerId === null ? null : eventIdAsk(given, given.callerId);
  const found = ask === null ? null : yield* tx.findClaim(env, ask.scope, ask.key);
  const asked = ask === null ? null : askFor(tx.at, found?.claim ?? null, ask, "settled");
  if (asked !== null && !asked.taken) {
    tx.countAsking(env, found!);
    yield* recordDuplicate(tx, env, given, pairs, asked.claim, out);
    return;
  }
  const claim = asked?.claim ?? null;
  if (claim !== null) tx.writeClaim(env, claim, found);
  out.ingested.push({ id: given.id, firstEventId: null });
  const event = storedEvent(given, tx.at.now);
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i]!;
    if (pair.kind !== "start") recordDecision(tx, env, out, decidedOutright(pair, event.id, tx.at.now));
    else if (pair.flow === null || pair.flow.buffer === null) {
      recordStart(tx, env, pair, yield* startRun(tx, env, startOf(event, pair, claim), out), out);
    } else yield* fillBuffer(tx, env, bufferedOf(event, pair, claim, pair.flow.buffer), out);
  }
  if (yield* tx.isAwaited(env, event)) deliver(tx, env, event, deliverTo, out);
}

function addValues(tx: RuleTransaction, env: string, { id, name, values = [] }: NewEvent): void {
  for (const { path, word, value } of values) tx.add(newValues, env, id, path, name, word, value);
}

const startOf = (event: Event, pair: StartPair, claim: Claim | null): Start => ({
  event,
  pair,
  generation: claim?.generation ?? pair.generation,
  windowEndsAt: claim?.endsAt ?? null,
});

const bufferedOf = (event: Event, pair: StartPair, claim: Claim | null, rule: BufferRule) => ({
  event,
  pair: { ...pair, generation: claim?.generation ?? pair.generation },
  rule,
});

function recordStart(tx: RuleTransaction, env: string, pair: StartPair, decision: Decision, out: Writing): void {
  if (decision.kind === "started" && tx.isToldByRun(pair)) out.decisions.push(decision);
  else recordDecision(tx, env, out, decision);
}

const storedEvent = (event: NewEvent, receivedAt: number): Event => ({
  id: event.id,
  callerId: event.callerId,
  name: event.name,
  data: event.data,
  ts: event.ts,
  extra: event.extra,
  receivedAt,
  firstEventId: null,
  sourceRunId: event.sourceRunId,
});

const deliverId = (eventId: string): string => `deliver:${eventId}`;

/** Somebody may wait for it: who that is, is found out by the job. */
function deliver(tx: RuleTransaction, env: string, event: Event, deliverTo: string | null, out: Writing): void {
  const jobId = deliverId(event.id);
  const fence = deliverTo === null ? 0 : 1;
  tx.addJob(env, {
    id: jobId,
    kind: "deliver",
    runId: null,
    eventId: event.id,
    fn: null,
    rank: tx.at.now,
    dueAt: null,
    fence,
    leasedBy: deliverTo,
    lane: null,
    startBy: null,
    hadWaits: false,
  });
  if (deliverTo === null) out.queued = true;
  else out.leased.push({ kind: "deliver", jobId, fence, event });
}

/** An event that was stored before. */
function* answerAgain(
  tx: RuleTransaction,
  env: string,
  eventId: string,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Rule<void> {
  const stored = (yield* findEvent(tx, env, eventId))!;
  out.ingested.push({ id: eventId, firstEventId: stored.first_event_id });
  for (const row of yield* decisionsOfEvent(tx, env, eventId)) {
    const decision = readDecision(row);
    out.decisions.push(decision);
    if (decision.firstEventId !== null) yield* noteFirst(tx, env, out, stored.data, decision.firstEventId);
  }
  yield* answerLeasedAgain(tx, env, eventId, pairs, deliverTo, out);
}

/** A lost answer may have said which jobs its caller was to execute: as long as nothing came of them, it is said again. */
export function* answerLeasedAgain(
  tx: RuleTransaction,
  env: string,
  eventId: string,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Rule<void> {
  for (const pair of pairs) {
    // A run with a later due time is not born leased.
    if (pair.kind !== "start" || pair.dueAt !== null) continue;
    const job = yield* bornLeased(tx, env, pair.runId, pair.leaseTo);
    if (job !== null) out.leased.push(job);
  }
  const jobId = deliverId(eventId);
  if (!(yield* isBornLeased(tx, env, jobId, deliverTo))) return;
  const event = readEvent((yield* findEvent(tx, env, eventId))!);
  out.leased.push({ kind: "deliver", jobId, fence: 1, event });
}

/** A duplicate is stored and linked to the first, and does nothing at all. */
function* recordDuplicate(
  tx: RuleTransaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  claim: Claim,
  out: Writing,
): Rule<void> {
  const firstId = claim.holder;
  tx.add(linksToFirst, firstId, env, event.id);
  out.ingested.push({ id: event.id, firstEventId: firstId });
  const first = yield* noteFirst(tx, env, out, event.data, firstId);
  // One id under two names is usually a mistake of the sender.
  const under = first === undefined || first.name === event.name ? "" : ` under the name ${JSON.stringify(first.name)}`;
  const reason = `event id ${JSON.stringify(event.callerId)} was first used by event ${first?.id ?? "unknown"}${under}`;
  const answers = new Map<string, { runId: string | null; key: string | null }>();
  for (const pair of pairs) answers.set(pair.fn, { runId: null, key: null });
  for (const { fn, runId, key } of yield* tx.answersForEvent(env, firstId)) answers.set(fn, { runId, key });
  for (const [fn, { runId, key }] of [...answers].sort(byFunction)) {
    recordDecision(tx, env, out, {
      eventId: event.id,
      fn,
      kind: "duplicate-event",
      reason,
      runId,
      key,
      windowEndsAt: claim.endsAt,
      firstEventId: firstId,
      decidedAt: tx.at.now,
    });
  }
}

const byFunction = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
