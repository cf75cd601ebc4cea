// Events become decisions, claims, runs and jobs in one commit, event by event, first wins by order.
// Repeat: an event that is already stored touches no claim and is answered from its stored decisions.
import { type Claim, eventIdAsk } from "../../model/claim.ts";
import { decidedOutright } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import type { NestedIngest } from "../advance.ts";
import { sentSubject } from "../audit.ts";
import type { Ingested, IngestInput, NewEvent, NewPair, StaleRegistration, StartPair } from "../ingest.ts";
import { type DecisionRow, readDecision, readEvent } from "../rows.ts";
import { fillBuffer } from "../rules/fill-buffer.ts";
import { keptEvents } from "../rules/kept-events.ts";
import { findEvent, newestRerun } from "../rules/read-memo.ts";
import { noteFirst, recordDecision } from "../rules/record-decision.ts";
import { driveAtOnce } from "../rules/rule.ts";
import { answerOf, newWriting, type Writing } from "../writing.ts";
import { claimKey } from "./claim-key.ts";
import { bornLeased, insertJob, isBornLeased } from "./open-run.ts";
import { startRun } from "./start-run.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const insertEventSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id, starts)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, id) do nothing`;

const insertValueSql =
  "insert into event_values (env, event_id, path, name, word, value) values (?, ?, ?, ?, ?, ?) on conflict do nothing";

const linkToFirstSql = "update events set first_event_id = ? where env = ? and id = ?";

const selectDecisionsSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and event_id = ? order by fn`;

const someoneWaitsSql = "select 1 from waits indexed by waits_by_event where env = ? and event_name = ? limit 1";
const somethingCancelsSql =
  "select 1 from cancels indexed by cancels_by_event where env = ? and event_name = ? limit 1";

export function ingestEvents(tx: Transaction, input: IngestInput): Ingested | StaleRegistration {
  const stale = staleRegistration(tx, input.env, input.registration);
  // A repeat is answered from what it stored, whatever was registered since: deciding again would forget who was to execute it.
  if (stale !== null && !isRepeat(tx, input)) return stale;
  if (input.byHand !== undefined && !isRepeat(tx, input)) {
    writeAudit(tx, input.env, { action: "send-events", subject: sentSubject(input.events), ...input.byHand });
  }
  return ingestAll(tx, input.env, input.events, input.pairs, input.leaseTo);
}

/** A call is stored whole, so its first event speaks for all of it. */
const isRepeat = (tx: Transaction, { env, events }: IngestInput): boolean =>
  events.length > 0 && driveAtOnce(findEvent(tx, env, events[0]!.id)) !== undefined;

export function staleRegistration(tx: Transaction, env: string, registration: number | null): StaleRegistration | null {
  if (registration === null) return null;
  const current = tx.known.registration(env);
  return current === registration ? null : { kind: "stale-registration", registration: current };
}

function someoneWaitsFor(tx: Transaction, env: string, eventName: string): boolean {
  if (!tx.known.mayBeAwaited(env, eventName)) return false;
  const { connection } = tx;
  const someone =
    connection.one(someoneWaitsSql, env, eventName) !== undefined ||
    connection.one(somethingCancelsSql, env, eventName) !== undefined;
  if (!someone) tx.known.noteUnawaited(env, eventName);
  return someone;
}

/** The part shared with steps and runs that send events in their own transaction. */
function ingestAll(
  tx: Transaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
): Ingested {
  const out = newWriting();
  ingestInto(tx, env, events, pairs, deliverTo, out);
  return answerOf(out, tx.at.now);
}

/** Events that a step or a run sends in its own transaction. Those nobody listens to are not stored at all. */
export function ingestNested(tx: Transaction, env: string, nested: NestedIngest): Ingested {
  const kept = nested.events.map((event) => event.ifAwaited !== true || someoneWaitsFor(tx, env, event.name));
  const { events, pairs } = keptEvents(nested, kept);
  return ingestAll(tx, env, events, pairs, null);
}

export function ingestInto(
  tx: Transaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): void {
  const pairsOf = new Map<number, NewPair[]>();
  for (const pair of pairs) {
    const list = pairsOf.get(pair.event);
    if (list === undefined) pairsOf.set(pair.event, [pair]);
    else list.push(pair);
  }
  events.forEach((event, i) => {
    ingestOne(tx, env, event, pairsOf.get(i) ?? [], deliverTo, out);
  });
}

function ingestOne(
  tx: Transaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): void {
  const row = insertEvent(tx, env, event, pairs);
  if (row === null) {
    const stored = driveAtOnce(findEvent(tx, env, event.id))!;
    out.ingested.push({ id: event.id, firstEventId: stored.first_event_id });
    for (const row of tx.connection.all<DecisionRow>(selectDecisionsSql, env, event.id)) {
      const decision = readDecision(row);
      out.decisions.push(decision);
      if (decision.firstEventId !== null) driveAtOnce(noteFirst(tx, env, out, stored.data, decision.firstEventId));
    }
    answerLeasedAgain(tx, env, event.id, pairs, deliverTo, out);
    return;
  }
  let eventClaim: Claim | null = null;
  if (event.callerId !== null) {
    const asked = claimKey(tx, env, eventIdAsk(event, event.callerId), "settled");
    if (!asked.taken) {
      recordDuplicate(tx, env, event, pairs, asked.claim, out);
      return;
    }
    eventClaim = asked.claim;
  }
  out.ingested.push({ id: event.id, firstEventId: null });
  // Answered in the order in which they will be read again.
  const ordered = pairs.length < 2 ? pairs : [...pairs].sort((a, b) => (a.fn < b.fn ? -1 : 1));
  for (const pair of ordered) decide(tx, env, row, pair, eventClaim, out);
  if (someoneWaitsFor(tx, env, event.name)) {
    const jobId = `deliver:${event.id}`;
    const fence = deliverTo === null ? 0 : 1;
    insertJob(tx, env, {
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
    else out.leased.push({ kind: "deliver", jobId, fence, event: row });
  }
}

/** Who was to execute what may have been in an answer that was lost: as long as nothing came of it, it is said again. */
export function answerLeasedAgain(
  tx: Transaction,
  env: string,
  eventId: string,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): void {
  for (const pair of pairs) {
    // A run with a later due time is not born leased.
    if (pair.kind !== "start" || pair.dueAt !== null) continue;
    const job = bornLeased(tx, env, pair.runId, pair.leaseTo);
    if (job !== null) out.leased.push(job);
  }
  const jobId = `deliver:${eventId}`;
  if (!isBornLeased(tx, env, jobId, deliverTo)) return;
  out.leased.push({ kind: "deliver", jobId, fence: 1, event: readEvent(driveAtOnce(findEvent(tx, env, eventId))!) });
}

function insertEvent(tx: Transaction, env: string, event: NewEvent, pairs: readonly NewPair[]): Event | null {
  const inserted = tx.connection.run(
    insertEventSql,
    env,
    event.id,
    event.callerId,
    event.name,
    event.data,
    event.ts,
    event.extra,
    tx.at.now,
    tx.stamp(),
    event.sourceRunId,
    startsOf(pairs),
  );
  if (inserted === 0) return null;
  for (const { path, word, value } of event.values ?? [])
    tx.connection.run(insertValueSql, env, event.id, path, event.name, word, value);
  return {
    id: event.id,
    callerId: event.callerId,
    name: event.name,
    data: event.data,
    ts: event.ts,
    extra: event.extra,
    receivedAt: tx.at.now,
    firstEventId: null,
    sourceRunId: event.sourceRunId,
  };
}

/** Whether a run it starts now says all there is to say about it: no decision is kept beside it (docs/decisions/0055). */
const isToldByRun = (pair: NewPair): pair is StartPair =>
  pair.kind === "start" && pair.reason === null && (pair.flow === null || pair.flow.buffer === null);

function startsOf(pairs: readonly NewPair[]): string | null {
  const told = pairs.filter(isToldByRun);
  return told.length === 0 ? null : JSON.stringify(told.map(({ runId }) => runId));
}

/** A duplicate is stored and linked to the first, and does nothing at all. */
function recordDuplicate(
  tx: Transaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  claim: Claim,
  out: Writing,
): void {
  const firstId = claim.holder;
  tx.connection.run(linkToFirstSql, firstId, env, event.id);
  out.ingested.push({ id: event.id, firstEventId: firstId });
  const first = driveAtOnce(noteFirst(tx, env, out, event.data, firstId));
  // One id under two names is usually a mistake of the sender.
  const under = first === undefined || first.name === event.name ? "" : ` under the name ${JSON.stringify(first.name)}`;
  const reason = `event id ${JSON.stringify(event.callerId)} was first used by event ${first?.id ?? "unknown"}${under}`;
  const answers = new Map<string, { runId: string | null; key: string | null }>();
  for (const pair of pairs) answers.set(pair.fn, { runId: null, key: null });
  for (const first of tx.connection.all<DecisionRow>(selectDecisionsSql, env, firstId)) {
    answers.set(first.fn, { runId: first.run_id, key: first.key });
  }
  for (const [fn, { runId, key }] of [...answers].sort(byFunction)) {
    recordDecision(tx, env, out, {
      eventId: event.id,
      fn,
      kind: "duplicate-event",
      reason,
      runId: runId === null ? null : driveAtOnce(newestRerun(tx, env, runId)),
      key,
      windowEndsAt: claim.endsAt,
      firstEventId: firstId,
      decidedAt: tx.at.now,
    });
  }
}

const byFunction = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

function decide(
  tx: Transaction,
  env: string,
  event: Event,
  pair: NewPair,
  eventClaim: Claim | null,
  out: Writing,
): void {
  if (pair.kind !== "start") {
    recordDecision(tx, env, out, decidedOutright(pair, event.id, tx.at.now));
    return;
  }
  const generation = eventClaim?.generation ?? pair.generation;
  const buffer = pair.flow?.buffer ?? null;
  if (buffer !== null) driveAtOnce(fillBuffer(tx, env, { event, pair: { ...pair, generation }, rule: buffer }, out));
  else {
    const start = { event, pair, generation, windowEndsAt: eventClaim?.endsAt ?? null };
    const decision = startRun(tx, env, start, out);
    if (decision.kind === "started" && isToldByRun(pair)) out.decisions.push(decision);
    else recordDecision(tx, env, out, decision);
  }
}
