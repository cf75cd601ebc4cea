// A buffer that is due or full becomes a run: its keys, its decisions and the run are one commit.
import { functionKeyAsk, functionScope } from "../../model/claim.ts";
import type { Decision, DecisionKind } from "../../model/decision.ts";
import {
  inBatch,
  keyInBatch,
  keyTaken,
  pausedMeanwhile,
  supersededBy,
  supersededForNothing,
} from "../../model/decision-reasons.ts";
import { publicEventId } from "../../model/event.ts";
import type { StartPair } from "../ingest.ts";
import { type BufferRow, readEvent } from "../rows.ts";
import type { Writing } from "../writing.ts";
import { askFor, countAsking, findClaim, writeClaim } from "./claim-key.ts";
import { lockAhead } from "./lock-ahead.ts";
import { openRun } from "./open-run.ts";
import { answerPending } from "./pending-child.ts";
import { answersForKey, findEvent } from "./read-memo.ts";
import { decideAgain } from "./record-decision.ts";
import { refusal, startBy, startRun } from "./start-run.ts";
import type { Transaction } from "./transaction.ts";

const deleteBufferSql = "delete from buffers where env = ? and fn = ? and kind = ? and key = ?";
const selectItemsSql = "select event_id, pair from buffer_items where env = ? and buffer_id = ? order by n";
const pairsOfAllSql = `
  select pair from buffer_items where env = ? and buffer_id = any(cast(? as text[])) and pair is not null order by buffer_id, n`;
const deleteItemsSql = "delete from buffer_items where env = ? and buffer_id = ?";
const dueBuffersSql = `
  select fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair
    from buffers where env = ? and due_at > 0 and due_at <= ? order by due_at limit ? for update skip locked`;
const nextDueSql = "select min(due_at) as due_at from buffers where env = ? and due_at > 0";
const pausedSql = "select 1 from functions where env = ? and fn = ? and paused_at is not null";

// Bounded, so that a night's worth of buffers does not hold up the commits of others.
const flushedMax = 100;

export async function flushDue(tx: Transaction, env: string, out: Writing): Promise<void> {
  const due = await tx.connection.all<BufferRow>(dueBuffersSql, env, tx.at.now, flushedMax);
  if (due.length === 0) return;
  const stored = await tx.connection.all<{ pair: string }>(
    pairsOfAllSql,
    env,
    due.map(({ id }) => id),
  );
  const kept = [...stored, ...due].flatMap(({ pair }) => (pair === null ? [] : [JSON.parse(pair) as StartPair]));
  await lockAhead(tx, [{ env, events: [], pairs: kept }]);
  for (const buffer of due) await flushBuffer(tx, env, buffer, out);
}

export async function nextFlushAt(tx: Transaction, env: string): Promise<number | null> {
  return (await tx.connection.one<{ due_at: number | null }>(nextDueSql, env))?.due_at ?? null;
}

interface ItemRow {
  event_id: string;
  pair: string | null;
}

export async function flushBuffer(tx: Transaction, env: string, buffer: BufferRow, out: Writing): Promise<void> {
  const items = await tx.connection.all<ItemRow>(selectItemsSql, env, buffer.id);
  tx.connection.write(deleteBufferSql, env, buffer.fn, buffer.kind, buffer.key);
  tx.connection.write(deleteItemsSql, env, buffer.id);
  const isPaused = (await tx.connection.one(pausedSql, env, buffer.fn)) !== undefined;
  const decisions = isPaused
    ? items.map((item) => pausedNow(tx, buffer.fn, item))
    : buffer.kind === "debounce"
      ? await debounced(tx, env, buffer, items, out)
      : await batched(tx, env, buffer.fn, items, out);
  for (const decision of decisions) {
    if (!decideAgain(tx, env, out, decision)) countFlushed(out, decision.kind);
    await answerPending(tx, env, decision, out);
  }
}

function countFlushed(out: Writing, kind: DecisionKind): void {
  // Still what it was: another event superseded it.
  if (kind === "debounced") return;
  out.redecided ??= {};
  out.redecided[kind] = (out.redecided[kind] ?? 0) + 1;
}

const undecided = (tx: Transaction, fn: string, eventId: string) => ({
  eventId,
  fn,
  runId: null,
  key: null,
  windowEndsAt: null,
  firstEventId: null,
  decidedAt: tx.at.now,
});

const pausedNow = (tx: Transaction, fn: string, { event_id }: ItemRow): Decision => ({
  ...undecided(tx, fn, event_id),
  kind: "paused",
  reason: pausedMeanwhile,
});

async function debounced(
  tx: Transaction,
  env: string,
  buffer: BufferRow,
  items: readonly ItemRow[],
  out: Writing,
): Promise<Decision[]> {
  const newestId = buffer.event_id!;
  const pair = JSON.parse(buffer.pair!) as StartPair;
  const event = readEvent((await findEvent(tx.connection, env, newestId))!);
  const newest = await startRun(tx, env, { event, pair, generation: pair.generation, windowEndsAt: null }, out);
  const superseded = items
    .filter(({ event_id }) => event_id !== newestId)
    .map(({ event_id }): Decision => {
      const isAnswered = newest.kind === "started" || newest.kind === "duplicate-key";
      const reason = isAnswered ? supersededBy(newestId) : supersededForNothing(newestId, newest.reason);
      // Debounced without a run would be pending for ever: it shares the fate of the newest.
      const kind = isAnswered ? "debounced" : newest.kind;
      return { ...undecided(tx, buffer.fn, event_id), kind, reason, runId: newest.runId };
    });
  return [newest, ...superseded];
}

interface Carried {
  readonly eventId: string;
  readonly pair: StartPair;
}

/** Keys are asked one by one, in order; what is taken, by an earlier run or by this very batch, is not carried. */
async function batched(
  tx: Transaction,
  env: string,
  fn: string,
  items: readonly ItemRow[],
  out: Writing,
): Promise<Decision[]> {
  const pairs = items.map(({ event_id, pair }) => ({ eventId: event_id, pair: JSON.parse(pair!) as StartPair }));
  const runId = pairs[0]!.pair.runId;
  const keys = new Set<string>();
  const carried: Carried[] = [];
  const decisions = new Map<string, Decision>();
  for (const { eventId, pair } of pairs) {
    const taken = await duplicateOf(tx, env, eventId, pair, runId, keys);
    if (taken !== null) {
      decisions.set(eventId, taken);
      continue;
    }
    carried.push({ eventId, pair });
    if (pair.key !== null) keys.add(pair.key);
  }
  const first = carried[0];
  if (first !== undefined) {
    const refused = await refusal(tx, env, { ...first.pair, runId }, out);
    const key = (pair: StartPair) => ({ key: pair.key });
    if (refused !== null) {
      for (const { eventId, pair } of carried) {
        decisions.set(eventId, { ...undecided(tx, fn, eventId), ...key(pair), ...refused });
      }
      // A key that only this batch had asked for is free again with it.
      for (const [eventId, decision] of decisions) {
        if (decision.runId === runId) decisions.set(eventId, { ...decision, ...refused });
      }
    } else {
      const ends = await carry(tx, env, runId, carried, out);
      carried.forEach(({ eventId, pair }, i) => {
        const started = {
          kind: "started",
          reason: inBatch(carried.length, pair.reason),
          runId,
          windowEndsAt: ends[i]!,
        } as const;
        decisions.set(eventId, { ...undecided(tx, fn, eventId), ...key(pair), ...started });
      });
      await noteRepeated(tx, env, runId, carried, decisions);
    }
  }
  return pairs.map(({ eventId }) => decisions.get(eventId)!);
}

/** What came again inside the batch asked for the key too, and is compared with the event that brought it. */
async function noteRepeated(
  tx: Transaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  decisions: Map<string, Decision>,
): Promise<void> {
  for (const [eventId, decision] of decisions) {
    if (decision.kind !== "duplicate-key" || decision.runId !== runId || decision.firstEventId !== null) continue;
    const { eventId: firstEventId } = carried.find(({ pair }) => pair.key === decision.key)!;
    countAsking(tx, env, (await findClaim(tx, env, functionScope(decision.fn), decision.key!))!);
    const { windowEndsAt } = decisions.get(firstEventId)!;
    decisions.set(eventId, { ...decision, firstEventId, windowEndsAt });
  }
}

async function duplicateOf(
  tx: Transaction,
  env: string,
  eventId: string,
  pair: StartPair,
  runId: string,
  inBatchAlready: ReadonlySet<string>,
): Promise<Decision | null> {
  const { fn, key } = pair;
  if (key === null) return null;
  const base = { ...undecided(tx, fn, eventId), key, kind: "duplicate-key" } as const;
  if (inBatchAlready.has(key)) return { ...base, runId, reason: keyInBatch(key, runId) };
  const found = await findClaim(tx, env, functionScope(fn), key);
  const asked = askFor(tx, found, functionKeyAsk(pair, key, runId));
  if (asked.taken) return null;
  countAsking(tx, env, found!);
  const { runId: holder, ended, firstEventId } = await answersForKey(tx.connection, env, asked.claim.holder, key);
  const reason = keyTaken(key, holder, ended);
  return { ...base, runId: holder, reason, windowEndsAt: asked.claim.endsAt, firstEventId };
}

/** Opens the run; answers when each key's window ends. */
async function carry(
  tx: Transaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  out: Writing,
): Promise<(number | null)[]> {
  const { pair } = carried[0]!;
  const ends: (number | null)[] = [];
  for (const { pair: each } of carried) {
    if (each.key === null) {
      ends.push(null);
      continue;
    }
    const found = await findClaim(tx, env, functionScope(each.fn), each.key);
    const { claim } = askFor(tx, found, functionKeyAsk(each, each.key, runId));
    writeClaim(tx, env, { ...claim, state: "in-flight" });
    ends.push(claim.endsAt);
  }
  const rows = await Promise.all(carried.map(({ eventId }) => findEvent(tx.connection, env, eventId)));
  const events = rows.map((row) => readEvent(row!));
  const opened = await openRun(tx, env, {
    id: runId,
    fn: pair.fn,
    eventId: carried[0]!.eventId,
    key: null,
    subject: JSON.stringify(events.map(publicEventId).sort()),
    generation: carried[0]!.eventId,
    previousRunId: null,
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: runId,
    rank: tx.at.now,
    dueAt: null,
    leaseTo: null,
    holdsKey: pair.hold,
    lane: pair.flow?.lane ?? null,
    startBy: startBy(tx, events[0]!, pair.flow),
    cancelOn: pair.flow?.cancelOn ?? [],
    singleton: pair.flow?.singleton?.key ?? null,
    carried: carried.map((each) => ({ eventId: each.eventId, key: each.pair.key })),
  });
  if (opened.run.state === "queued") out.queued = true;
  return ends;
}
