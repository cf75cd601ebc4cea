// Events become decisions, claims, runs and jobs in one commit, event by event, first wins by order.
// Repeat: an event that is already stored touches no claim and is answered from its stored decisions.
import { type Claim, eventIdAsk } from "../../model/claim.ts";
import { decidedOutright } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import type { NestedIngest } from "../advance.ts";
import { sentSubject } from "../audit.ts";
import type { Ingested, IngestInput, NewEvent, NewPair, StaleRegistration } from "../ingest.ts";
import { type DecisionRow, readDecision, readEvent } from "../rows.ts";
import { fillBuffer } from "../rules/fill-buffer.ts";
import { keptEvents } from "../rules/kept-events.ts";
import { findEvent, newestRerun } from "../rules/read-memo.ts";
import { noteFirst, recordDecision } from "../rules/record-decision.ts";
import { driveAwaited } from "../rules/rule.ts";
import { answerOf, newWriting, type Writing } from "../writing.ts";
import { claimKey } from "./claim-key.ts";
import { bornLeased, insertJob, isBornLeased } from "./open-run.ts";
import { startRun } from "./start-run.ts";
import { inEnv, type Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const insertEventSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, id) do nothing`;

const insertValuesSql = `
  insert into event_values (env, event_id, path, name, word, value)
  select :env, :id, path, :name, word, value
    from unnest(cast(:paths as text[]), cast(:words as text[]), cast(:values as text[])) as given (path, word, value)
  on conflict do nothing`;

const linkToFirstSql = "update events set first_event_id = ? where env = ? and id = ?";

const selectDecisionsSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and event_id = ? order by fn`;

const someoneWaitsSql = `
  select 1 where exists (select 1 from waits where env = ? and event_name = ?)
              or exists (select 1 from cancels where env = ? and event_name = ?)`;

export async function ingestEvents(tx: Transaction, input: IngestInput): Promise<Ingested | StaleRegistration> {
  const stale = await staleRegistration(tx, input.env, input.registration);
  // A repeat is answered from what it stored, whatever was registered since: deciding again would forget who was to execute it.
  if (stale !== null && !(await isRepeat(tx, input))) return stale;
  if (input.byHand !== undefined && !(await isRepeat(tx, input))) {
    writeAudit(tx, input.env, { action: "send-events", subject: sentSubject(input.events), ...input.byHand });
  }
  return ingestAll(tx, input.env, input.events, input.pairs, input.leaseTo);
}

/** A call is stored whole, so its first event speaks for all of it. */
async function isRepeat(tx: Transaction, { env, events }: IngestInput): Promise<boolean> {
  const [first] = events;
  // Stored a moment ago, by another call of this transaction, whose turn is yet to come.
  if (first === undefined || tx.ahead.events.get(inEnv(env, first.id)) === true) return false;
  return (await driveAwaited(findEvent(tx, env, first.id))) !== undefined;
}

export async function staleRegistration(
  tx: Transaction,
  env: string,
  registration: number | null,
): Promise<StaleRegistration | null> {
  if (registration === null) return null;
  const current = tx.ahead.registrations.get(env) ?? (await driveAwaited(tx.registration(env)));
  return current === registration ? null : { kind: "stale-registration", registration: current };
}

async function someoneWaitsFor(tx: Transaction, env: string, eventName: string): Promise<boolean> {
  const known = tx.ahead.awaited.get(inEnv(env, eventName));
  if (known !== undefined) return known;
  return (await tx.connection.one(someoneWaitsSql, env, eventName, env, eventName)) !== undefined;
}

/** The part shared with steps and runs that send events in their own transaction. */
async function ingestAll(
  tx: Transaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
): Promise<Ingested> {
  const out = newWriting();
  await ingestInto(tx, env, events, pairs, deliverTo, out);
  return answerOf(out, tx.at.now);
}

/** Events that a step or a run sends in its own transaction. Those nobody listens to are not stored at all. */
export async function ingestNested(tx: Transaction, env: string, nested: NestedIngest): Promise<Ingested> {
  const kept = await Promise.all(
    nested.events.map(async (event) => event.ifAwaited !== true || (await someoneWaitsFor(tx, env, event.name))),
  );
  const { events, pairs } = keptEvents(nested, kept);
  return ingestAll(tx, env, events, pairs, null);
}

export async function ingestInto(
  tx: Transaction,
  env: string,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Promise<void> {
  const pairsOf = new Map<number, NewPair[]>();
  for (const pair of pairs) {
    const list = pairsOf.get(pair.event);
    if (list === undefined) pairsOf.set(pair.event, [pair]);
    else list.push(pair);
  }
  for (const [i, event] of events.entries()) {
    await ingestOne(tx, env, event, pairsOf.get(i) ?? [], deliverTo, out);
  }
}

async function ingestOne(
  tx: Transaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Promise<void> {
  const row = await insertEvent(tx, env, event);
  if (row === null) {
    const stored = (await driveAwaited(findEvent(tx, env, event.id)))!;
    out.ingested.push({ id: event.id, firstEventId: stored.first_event_id });
    for (const row of await tx.connection.all<DecisionRow>(selectDecisionsSql, env, event.id)) {
      const decision = readDecision(row);
      out.decisions.push(decision);
      if (decision.firstEventId !== null)
        await driveAwaited(noteFirst(tx, env, out, stored.data, decision.firstEventId));
    }
    await answerLeasedAgain(tx, env, event.id, pairs, deliverTo, out);
    return;
  }
  let eventClaim: Claim | null = null;
  if (event.callerId !== null) {
    const asked = await claimKey(tx, env, eventIdAsk(event, event.callerId), "settled");
    if (!asked.taken) {
      await recordDuplicate(tx, env, event, pairs, asked.claim, out);
      return;
    }
    eventClaim = asked.claim;
  }
  out.ingested.push({ id: event.id, firstEventId: null });
  // Answered in the order in which they will be read again.
  const ordered = pairs.length < 2 ? pairs : [...pairs].sort((a, b) => (a.fn < b.fn ? -1 : 1));
  for (const pair of ordered) await decide(tx, env, row, pair, eventClaim, out);
  if (await someoneWaitsFor(tx, env, event.name)) {
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
export async function answerLeasedAgain(
  tx: Transaction,
  env: string,
  eventId: string,
  pairs: readonly NewPair[],
  deliverTo: string | null,
  out: Writing,
): Promise<void> {
  for (const pair of pairs) {
    // A run with a later due time is not born leased.
    if (pair.kind !== "start" || pair.dueAt !== null) continue;
    const job = await bornLeased(tx, env, pair.runId, pair.leaseTo);
    if (job !== null) out.leased.push(job);
  }
  const jobId = `deliver:${eventId}`;
  if (!(await isBornLeased(tx, env, jobId, deliverTo))) return;
  out.leased.push({
    kind: "deliver",
    jobId,
    fence: 1,
    event: readEvent((await driveAwaited(findEvent(tx, env, eventId)))!),
  });
}

async function insertEvent(tx: Transaction, env: string, event: NewEvent): Promise<Event | null> {
  const ahead = inEnv(env, event.id);
  const isNew = tx.ahead.events.get(ahead) ?? (await storeEvent(tx, env, event));
  // Twice in one transaction: the second time it is there.
  tx.ahead.events.set(ahead, false);
  if (!isNew) return null;
  const { values = [] } = event;
  if (values.length > 0)
    await tx.connection.find(insertValuesSql, {
      ...{ env, id: event.id, name: event.name, paths: values.map(({ path }) => path) },
      ...{ words: values.map(({ word }) => word), values: values.map(({ value }) => value) },
    });
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

/** Whether it was not there before. Waits for whoever is storing it just now. */
export async function storeEvent(tx: Transaction, env: string, event: NewEvent): Promise<boolean> {
  const { id, callerId, name, data, ts, extra, sourceRunId } = event;
  const stored = [env, id, callerId, name, data, ts, extra, tx.at.now, tx.stamp(), sourceRunId];
  return (await tx.connection.run(insertEventSql, ...stored)) > 0;
}

/** A duplicate is stored and linked to the first, and does nothing at all. */
async function recordDuplicate(
  tx: Transaction,
  env: string,
  event: NewEvent,
  pairs: readonly NewPair[],
  claim: Claim,
  out: Writing,
): Promise<void> {
  const firstId = claim.holder;
  tx.connection.write(linkToFirstSql, firstId, env, event.id);
  out.ingested.push({ id: event.id, firstEventId: firstId });
  const first = await driveAwaited(noteFirst(tx, env, out, event.data, firstId));
  // One id under two names is usually a mistake of the sender.
  const under = first === undefined || first.name === event.name ? "" : ` under the name ${JSON.stringify(first.name)}`;
  const reason = `event id ${JSON.stringify(event.callerId)} was first used by event ${first?.id ?? "unknown"}${under}`;
  const answers = new Map<string, { runId: string | null; key: string | null }>();
  for (const pair of pairs) answers.set(pair.fn, { runId: null, key: null });
  for (const first of await tx.connection.all<DecisionRow>(selectDecisionsSql, env, firstId)) {
    answers.set(first.fn, { runId: first.run_id, key: first.key });
  }
  for (const [fn, { runId, key }] of [...answers].sort(byFunction)) {
    recordDecision(tx, env, out, {
      eventId: event.id,
      fn,
      kind: "duplicate-event",
      reason,
      runId: runId === null ? null : await driveAwaited(newestRerun(tx, env, runId)),
      key,
      windowEndsAt: claim.endsAt,
      firstEventId: firstId,
      decidedAt: tx.at.now,
    });
  }
}

const byFunction = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

async function decide(
  tx: Transaction,
  env: string,
  event: Event,
  pair: NewPair,
  eventClaim: Claim | null,
  out: Writing,
): Promise<void> {
  if (pair.kind !== "start") {
    recordDecision(tx, env, out, decidedOutright(pair, event.id, tx.at.now));
    return;
  }
  const generation = eventClaim?.generation ?? pair.generation;
  const buffer = pair.flow?.buffer ?? null;
  if (buffer !== null)
    await driveAwaited(fillBuffer(tx, env, { event, pair: { ...pair, generation }, rule: buffer }, out));
  else {
    const start = { event, pair, generation, windowEndsAt: eventClaim?.endsAt ?? null };
    recordDecision(tx, env, out, await startRun(tx, env, start, out));
  }
}
