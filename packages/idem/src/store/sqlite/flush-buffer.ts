// A buffer that is due or full becomes a run: its keys, its decisions and the run are one commit.
import { askClaim, functionKeyAsk, functionScope } from "../../model/claim.ts";
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
import { countAsking, findClaim, writeClaim } from "./claim-key.ts";
import { openRun } from "./open-run.ts";
import { answerPending } from "./pending-child.ts";
import { answersForKey, findEvent } from "./read-memo.ts";
import { decideAgain } from "./record-decision.ts";
import { refusal, startBy, startRun } from "./start-run.ts";
import type { Transaction } from "./transaction.ts";

const deleteBufferSql = "delete from buffers where env = ? and fn = ? and kind = ? and key = ?";
const selectItemsSql = "select event_id, pair from buffer_items where env = ? and buffer_id = ? order by n";
const deleteItemsSql = "delete from buffer_items where env = ? and buffer_id = ?";
const dueBuffersSql = `
  select fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair
    from buffers indexed by buffers_by_due where env = ? and due_at <= ? order by due_at limit ?`;
const nextDueSql = "select min(due_at) as due_at from buffers indexed by buffers_by_due where env = ?";
const pausedSql = "select 1 from functions where env = ? and fn = ? and paused_at is not null";

// Bounded, so that a night's worth of buffers does not hold up the commits of others.
const flushedMax = 100;

export function flushDue(tx: Transaction, env: string, out: Writing): void {
  if (!tx.known.mayHaveBuffers()) return;
  for (const buffer of tx.connection.all<BufferRow>(dueBuffersSql, env, tx.at.now, flushedMax)) {
    flushBuffer(tx, env, buffer, out);
  }
}

export function nextFlushAt(tx: Transaction, env: string): number | null {
  if (!tx.known.mayHaveBuffers()) return null;
  return tx.connection.one<{ due_at: number | null }>(nextDueSql, env)?.due_at ?? null;
}

interface ItemRow {
  event_id: string;
  pair: string | null;
}

export function flushBuffer(tx: Transaction, env: string, buffer: BufferRow, out: Writing): void {
  const items = tx.connection.all<ItemRow>(selectItemsSql, env, buffer.id);
  tx.connection.run(deleteBufferSql, env, buffer.fn, buffer.kind, buffer.key);
  tx.connection.run(deleteItemsSql, env, buffer.id);
  const isPaused = tx.connection.one(pausedSql, env, buffer.fn) !== undefined;
  const decisions = isPaused
    ? items.map((item) => pausedNow(tx, buffer.fn, item))
    : buffer.kind === "debounce"
      ? debounced(tx, env, buffer, items, out)
      : batched(tx, env, buffer.fn, items, out);
  for (const decision of decisions) {
    if (!decideAgain(tx, env, out, decision)) countFlushed(out, decision.kind);
    answerPending(tx, env, decision, out);
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

function debounced(
  tx: Transaction,
  env: string,
  buffer: BufferRow,
  items: readonly ItemRow[],
  out: Writing,
): Decision[] {
  const newestId = buffer.event_id!;
  const pair = JSON.parse(buffer.pair!) as StartPair;
  const event = readEvent(findEvent(tx.connection, env, newestId)!);
  const newest = startRun(tx, env, { event, pair, generation: pair.generation, windowEndsAt: null }, out);
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
function batched(tx: Transaction, env: string, fn: string, items: readonly ItemRow[], out: Writing): Decision[] {
  const pairs = items.map(({ event_id, pair }) => ({ eventId: event_id, pair: JSON.parse(pair!) as StartPair }));
  const runId = pairs[0]!.pair.runId;
  const keys = new Set<string>();
  const carried: Carried[] = [];
  const decisions = new Map<string, Decision>();
  for (const { eventId, pair } of pairs) {
    const taken = duplicateOf(tx, env, eventId, pair, runId, keys);
    if (taken !== null) {
      decisions.set(eventId, taken);
      continue;
    }
    carried.push({ eventId, pair });
    if (pair.key !== null) keys.add(pair.key);
  }
  const first = carried[0];
  if (first !== undefined) {
    const refused = refusal(tx, env, { ...first.pair, runId }, out);
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
      const ends = carry(tx, env, runId, carried, out);
      carried.forEach(({ eventId, pair }, i) => {
        const started = {
          kind: "started",
          reason: inBatch(carried.length, pair.reason),
          runId,
          windowEndsAt: ends[i]!,
        } as const;
        decisions.set(eventId, { ...undecided(tx, fn, eventId), ...key(pair), ...started });
      });
      noteRepeated(tx, env, runId, carried, decisions);
    }
  }
  return pairs.map(({ eventId }) => decisions.get(eventId)!);
}

/** What came again inside the batch asked for the key too, and is compared with the event that brought it. */
function noteRepeated(
  tx: Transaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  decisions: Map<string, Decision>,
): void {
  for (const [eventId, decision] of decisions) {
    if (decision.kind !== "duplicate-key" || decision.runId !== runId || decision.firstEventId !== null) continue;
    const { eventId: firstEventId } = carried.find(({ pair }) => pair.key === decision.key)!;
    countAsking(tx, findClaim(tx, env, functionScope(decision.fn), decision.key!)!);
    const { windowEndsAt } = decisions.get(firstEventId)!;
    decisions.set(eventId, { ...decision, firstEventId, windowEndsAt });
  }
}

function duplicateOf(
  tx: Transaction,
  env: string,
  eventId: string,
  pair: StartPair,
  runId: string,
  inBatchAlready: ReadonlySet<string>,
): Decision | null {
  const { fn, key } = pair;
  if (key === null) return null;
  const base = { ...undecided(tx, fn, eventId), key, kind: "duplicate-key" } as const;
  if (inBatchAlready.has(key)) return { ...base, runId, reason: keyInBatch(key, runId) };
  const found = findClaim(tx, env, functionScope(fn), key);
  const asked = askClaim(found?.claim ?? null, functionKeyAsk(pair, key, runId), tx.at);
  if (asked.taken) return null;
  countAsking(tx, found!);
  const { runId: holder, ended, firstEventId } = answersForKey(tx.connection, env, asked.claim.holder, key);
  const reason = keyTaken(key, holder, ended);
  return { ...base, runId: holder, reason, windowEndsAt: asked.claim.endsAt, firstEventId };
}

/** Opens the run; answers when each key's window ends. */
function carry(
  tx: Transaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  out: Writing,
): (number | null)[] {
  const { pair } = carried[0]!;
  const ends = carried.map(({ pair: { key }, pair: each }) => {
    if (key === null) return null;
    const found = findClaim(tx, env, functionScope(each.fn), key);
    const { claim } = askClaim(found?.claim ?? null, functionKeyAsk(each, key, runId), tx.at);
    writeClaim(tx, env, { ...claim, state: "in-flight" }, found);
    return claim.endsAt;
  });
  const events = carried.map(({ eventId }) => readEvent(findEvent(tx.connection, env, eventId)!));
  const opened = openRun(tx, env, {
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
