// Events become decisions, claims, runs and jobs in one commit, event by event, first wins by order.
// Repeat: an event that is already stored touches no claim and is answered from its stored decisions.
import { type Claim, eventScope, functionScope } from "../../model/claim.ts";
import type { Decision } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import type {
  Ingested,
  IngestedEvent,
  IngestInput,
  LeasedJob,
  NewEvent,
  NewPair,
  StaleRegistration,
  StartPair,
} from "../store.ts";
import { claimKey } from "./claim-key.ts";
import { bornLeased, insertJob, isBornLeased, openRun } from "./open-run.ts";
import { findEvent, findRun } from "./read-memo.ts";
import { type DecisionRow, type EventRow, readDecision, readEvent } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

const insertEventSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, id) do nothing`;

const linkToFirstSql = "update events set first_event_id = ? where env = ? and id = ?";

const insertDecisionSql = `
  insert into decisions (env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export const selectDecisionsSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and event_id = ? order by fn`;

const someoneWaitsSql = "select 1 from waits indexed by waits_by_event where env = ? and event_name = ? limit 1";

export function ingestEvents(tx: Transaction, input: IngestInput): Ingested | StaleRegistration {
  const stale = staleRegistration(tx, input.env, input.registration);
  // A repeat is answered from what it stored, whatever was registered since: deciding again would forget who was to execute it.
  if (stale !== null && !isRepeat(tx, input)) return stale;
  return ingestAll(tx, input.env, input.events, input.pairs, input.leaseTo);
}

/** A call is stored whole, so its first event speaks for all of it. */
const isRepeat = (tx: Transaction, { env, events }: IngestInput): boolean =>
  events.length > 0 && findEvent(tx.connection, env, events[0]!.id) !== undefined;

export function staleRegistration(tx: Transaction, env: string, registration: number | null): StaleRegistration | null {
  if (registration === null) return null;
  const current = tx.known.registration(env);
  return current === registration ? null : { kind: "stale-registration", registration: current };
}

export function someoneWaitsFor(tx: Transaction, env: string, eventName: string): boolean {
  if (!tx.known.mayBeAwaited(env, eventName)) return false;
  const someone = tx.connection.one(someoneWaitsSql, env, eventName) !== undefined;
  if (!someone) tx.known.noteUnawaited(env, eventName);
  return someone;
}

/** The part shared with steps and runs that send events in their own transaction. */
export function ingestAll(
  tx: Transaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
): Ingested {
  const out: Writing = { ingested: [], decisions: [], firsts: new Map(), leased: [], queued: false };
  const pairsOf = new Map<number, NewPair[]>();
  for (const pair of pairs) {
    const list = pairsOf.get(pair.event);
    if (list === undefined) pairsOf.set(pair.event, [pair]);
    else list.push(pair);
  }
  events.forEach((event, i) => {
    ingestOne(tx, env, event, pairsOf.get(i) ?? [], deliverTo, out);
  });
  return {
    kind: "ingested",
    now: tx.at.now,
    events: out.ingested,
    decisions: out.decisions,
    firsts: [...out.firsts].map(([eventId, data]) => ({ eventId, data })),
    leased: out.leased,
    queued: out.queued,
  };
}

interface Writing {
  readonly ingested: IngestedEvent[];
  readonly decisions: Decision[];
  readonly firsts: Map<string, string>;
  readonly leased: LeasedJob[];
  queued: boolean;
}

function ingestOne(
  tx: Transaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): void {
  const row = insertEvent(tx, env, event);
  if (row === null) {
    const stored = findEvent(tx.connection, env, event.id)!;
    out.ingested.push({ id: event.id, firstEventId: stored.first_event_id });
    for (const row of tx.connection.all<DecisionRow>(selectDecisionsSql, env, event.id)) {
      const decision = readDecision(row);
      out.decisions.push(decision);
      if (decision.firstEventId !== null) noteFirst(tx, env, out, stored.data, decision.firstEventId);
    }
    answerLeasedAgain(tx, env, event.id, pairs, deliverTo, out);
    return;
  }
  let eventClaim: Claim | null = null;
  if (event.callerId !== null) {
    const asked = claimKey(
      tx,
      env,
      {
        scope: eventScope,
        key: event.callerId,
        holder: event.id,
        generation: event.id,
        windowMs: event.windowMs,
        held: false,
        fingerprint: null,
        leaseMs: null,
      },
      "settled",
    );
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
    });
    if (deliverTo === null) out.queued = true;
    else out.leased.push({ kind: "deliver", jobId, fence, event: row });
  }
}

/** Who was to execute what may have been in an answer that was lost: as long as nothing came of it, it is said again. */
function answerLeasedAgain(
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
  out.leased.push({ kind: "deliver", jobId, fence: 1, event: readEvent(findEvent(tx.connection, env, eventId)!) });
}

function insertEvent(tx: Transaction, env: string, event: NewEvent): Event | null {
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
  );
  if (inserted === 0) return null;
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

/** Keeps the first event's data for whoever wants to compare. */
function noteFirst(
  tx: Transaction,
  env: string,
  out: Writing,
  data: string,
  firstEventId: string,
): EventRow | undefined {
  const first = findEvent(tx.connection, env, firstEventId);
  if (first !== undefined && first.data !== data) out.firsts.set(firstEventId, first.data);
  return first;
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
  const first = noteFirst(tx, env, out, event.data, firstId);
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
      runId: runId === null ? null : newestRerun(tx, env, runId),
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
  const base = { eventId: event.id, fn: pair.fn, decidedAt: tx.at.now };
  if (pair.kind !== "start") {
    recordDecision(tx, env, out, {
      ...base,
      kind: pair.kind,
      reason: pair.reason,
      runId: null,
      key: null,
      windowEndsAt: null,
      firstEventId: null,
    });
    return;
  }
  if (pair.key === null) {
    start(tx, env, event, pair, eventClaim?.generation ?? pair.generation, null, eventClaim?.endsAt ?? null, out);
    return;
  }
  const asked = claimKey(
    tx,
    env,
    {
      scope: functionScope(pair.fn),
      key: pair.key,
      holder: pair.runId,
      generation: pair.runId,
      windowMs: pair.windowMs,
      held: pair.hold,
      fingerprint: null,
      leaseMs: null,
    },
    "in-flight",
  );
  if (asked.taken) {
    start(tx, env, event, pair, asked.claim.generation, asked.previousHolder, asked.claim.endsAt, out);
    return;
  }
  const holder = newestRerun(tx, env, asked.claim.holder);
  const firstEventId = findRun(tx.connection, env, holder)?.event_id ?? null;
  if (firstEventId !== null) noteFirst(tx, env, out, event.data, firstEventId);
  recordDecision(tx, env, out, {
    ...base,
    kind: "duplicate-key",
    reason: `key ${pair.key} is taken by run ${holder}`,
    runId: holder,
    key: pair.key,
    windowEndsAt: asked.claim.endsAt,
    firstEventId,
  });
}

function start(
  tx: Transaction,
  env: string,
  event: Event,
  pair: StartPair,
  generation: string,
  previousRunId: string | null,
  windowEndsAt: number | null,
  out: Writing,
): void {
  const opened = openRun(tx, env, {
    id: pair.runId,
    fn: pair.fn,
    eventId: event.id,
    key: pair.key,
    subject: pair.subject,
    generation,
    previousRunId,
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: pair.runId,
    rank: pair.rank,
    dueAt: pair.dueAt,
    leaseTo: pair.leaseTo,
    holdsKey: pair.hold,
  });
  if (opened.fence !== null) {
    out.leased.push({
      kind: "run",
      jobId: pair.runId,
      fence: opened.fence,
      lostWorkers: 0,
      memo: { run: opened.run, event, steps: [], attempts: [], waits: [], inputs: {} },
    });
  } else if (opened.run.state === "queued") {
    out.queued = true;
  }
  recordDecision(tx, env, out, {
    eventId: event.id,
    fn: pair.fn,
    kind: "started",
    reason: pair.reason,
    runId: pair.runId,
    key: pair.key,
    windowEndsAt,
    firstEventId: null,
    decidedAt: tx.at.now,
  });
}

function recordDecision(tx: Transaction, env: string, out: Writing, decision: Decision): void {
  tx.connection.run(
    insertDecisionSql,
    env,
    decision.eventId,
    decision.fn,
    decision.kind,
    decision.reason,
    decision.runId,
    decision.key,
    decision.windowEndsAt,
    decision.firstEventId,
    decision.decidedAt,
  );
  out.decisions.push(decision);
}

/** After a rerun, whoever asks again receives the newest run. */
export function newestRerun(tx: Transaction, env: string, runId: string): string {
  const run = findRun(tx.connection, env, runId);
  if (run === undefined) return runId;
  const root = run.root_run_id === runId ? run : findRun(tx.connection, env, run.root_run_id);
  return root?.newest_run_id ?? runId;
}
