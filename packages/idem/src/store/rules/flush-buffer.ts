// A buffer that is due or full becomes a run: its keys, its decisions and the run are one commit.

import { inBatch, keyInBatch } from "../../flow/batch/plan.ts";
import { supersededBy, supersededForNothing } from "../../flow/debounce/plan.ts";
import { askFor, functionKeyAsk, functionScope } from "../../model/claim.ts";
import { type Decision, type DecisionKind, keyTaken, pausedMeanwhile } from "../../model/decision.ts";
import { publicEventId } from "../../model/event.ts";
import type { StartPair } from "../ingest.ts";
import { type BufferRow, type EventRow, readEvent } from "../rows.ts";
import type { Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { answerPending } from "./end-wait.ts";
import { flowOfRun } from "./new-run.ts";
import { openRun } from "./open-run.ts";
import { findEvent } from "./read-memo.ts";
import { decideAgain } from "./record-decision.ts";
import { refuseStart } from "./refuse-start.ts";
import type { Rule } from "./rule.ts";
import { startRun } from "./start-run.ts";

const deleteBufferSql = "delete from buffers where env = ? and fn = ? and kind = ? and key = ?";
const selectItemsSql = "select event_id, pair from buffer_items where env = ? and buffer_id = ? order by n";
const deleteItemsSql = "delete from buffer_items where env = ? and buffer_id = ?";
const pausedSql = "select 1 from functions where env = ? and fn = ? and paused_at is not null";

// Bounded, so that a night's worth of buffers does not hold up the commits of others.
const flushedMax = 100;

export function* flushDue(tx: RuleTransaction, env: string, out: Writing): Rule<void> {
  if (!tx.mayHaveBuffers()) return;
  const due = yield* tx.all<BufferRow>(tx.sql.buffers.due, env, tx.at.now, flushedMax);
  if (due.length === 0) return;
  yield* tx.lockFlushed(env, due);
  for (const buffer of due) yield* flushBuffer(tx, env, buffer, out);
}

export function* nextFlushAt(tx: RuleTransaction, env: string): Rule<number | null> {
  if (!tx.mayHaveBuffers()) return null;
  return (yield* tx.one<{ due_at: number | null }>(tx.sql.buffers.nextDue, env))?.due_at ?? null;
}

interface ItemRow {
  event_id: string;
  pair: string | null;
}

export function* flushBuffer(tx: RuleTransaction, env: string, buffer: BufferRow, out: Writing): Rule<void> {
  const items = yield* tx.all<ItemRow>(selectItemsSql, env, buffer.id);
  tx.write(deleteBufferSql, env, buffer.fn, buffer.kind, buffer.key);
  tx.write(deleteItemsSql, env, buffer.id);
  const isPaused = (yield* tx.one(pausedSql, env, buffer.fn)) !== undefined;
  const decisions = isPaused
    ? items.map((item) => pausedNow(tx, buffer.fn, item))
    : buffer.kind === "debounce"
      ? yield* debounced(tx, env, buffer, items, out)
      : yield* batched(tx, env, buffer.fn, items, out);
  for (const decision of decisions) {
    if (!decideAgain(tx, env, out, decision)) countFlushed(out, decision.kind);
    yield* answerPending(tx, env, decision, out);
  }
}

function countFlushed(out: Writing, kind: DecisionKind): void {
  // Still what it was: another event superseded it.
  if (kind === "debounced") return;
  out.redecided ??= {};
  out.redecided[kind] = (out.redecided[kind] ?? 0) + 1;
}

const undecided = (tx: RuleTransaction, fn: string, eventId: string) => ({
  eventId,
  fn,
  runId: null,
  key: null,
  windowEndsAt: null,
  firstEventId: null,
  decidedAt: tx.at.now,
});

const pausedNow = (tx: RuleTransaction, fn: string, { event_id }: ItemRow): Decision => ({
  ...undecided(tx, fn, event_id),
  kind: "paused",
  reason: pausedMeanwhile,
});

function* debounced(
  tx: RuleTransaction,
  env: string,
  buffer: BufferRow,
  items: readonly ItemRow[],
  out: Writing,
): Rule<Decision[]> {
  const newestId = buffer.event_id!;
  const pair = JSON.parse(buffer.pair!) as StartPair;
  const event = readEvent((yield* findEvent(tx, env, newestId))!);
  const newest = yield* startRun(tx, env, { event, pair, generation: pair.generation, windowEndsAt: null }, out);
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
function* batched(
  tx: RuleTransaction,
  env: string,
  fn: string,
  items: readonly ItemRow[],
  out: Writing,
): Rule<Decision[]> {
  const pairs = items.map(({ event_id, pair }) => ({ eventId: event_id, pair: JSON.parse(pair!) as StartPair }));
  const runId = pairs[0]!.pair.runId;
  const keys = new Set<string>();
  const carried: Carried[] = [];
  const decisions = new Map<string, Decision>();
  for (const { eventId, pair } of pairs) {
    const taken = yield* duplicateOf(tx, env, { eventId, pair }, runId, keys);
    if (taken !== null) {
      decisions.set(eventId, taken);
      continue;
    }
    carried.push({ eventId, pair });
    if (pair.key !== null) keys.add(pair.key);
  }
  const first = carried[0];
  if (first !== undefined) {
    const refused = yield* refuseStart(tx, env, { ...first.pair, runId }, out);
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
      const ends = yield* carry(tx, env, runId, carried, out);
      carried.forEach(({ eventId, pair }, i) => {
        const started = {
          kind: "started",
          reason: inBatch(carried.length, pair.reason),
          runId,
          windowEndsAt: ends[i]!,
        } as const;
        decisions.set(eventId, { ...undecided(tx, fn, eventId), ...key(pair), ...started });
      });
      yield* noteRepeated(tx, env, runId, carried, decisions);
    }
  }
  return pairs.map(({ eventId }) => decisions.get(eventId)!);
}

/** Repeats of a key inside the batch asked for it too, and are compared with the event that brought it. */
function* noteRepeated(
  tx: RuleTransaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  decisions: Map<string, Decision>,
): Rule<void> {
  for (const [eventId, decision] of decisions) {
    if (decision.kind !== "duplicate-key" || decision.runId !== runId || decision.firstEventId !== null) continue;
    const { eventId: firstEventId } = carried.find(({ pair }) => pair.key === decision.key)!;
    tx.countAsking(env, (yield* tx.findClaim(env, functionScope(decision.fn), decision.key!))!);
    const { windowEndsAt } = decisions.get(firstEventId)!;
    decisions.set(eventId, { ...decision, firstEventId, windowEndsAt });
  }
}

function* duplicateOf(
  tx: RuleTransaction,
  env: string,
  { eventId, pair }: Carried,
  runId: string,
  inBatchAlready: ReadonlySet<string>,
): Rule<Decision | null> {
  const { fn, key } = pair;
  if (key === null) return null;
  const base = { ...undecided(tx, fn, eventId), key, kind: "duplicate-key" } as const;
  if (inBatchAlready.has(key)) return { ...base, runId, reason: keyInBatch(key, runId) };
  const found = yield* tx.findClaim(env, functionScope(fn), key);
  const asked = askFor(tx.at, found?.claim ?? null, functionKeyAsk(pair, key, runId));
  if (asked.taken) return null;
  tx.countAsking(env, found!);
  const { runId: holder, ended, firstEventId } = yield* tx.answerForKey(env, asked.claim.holder, key);
  const reason = keyTaken(key, holder, ended);
  return { ...base, runId: holder, reason, windowEndsAt: asked.claim.endsAt, firstEventId };
}

/** Opens the run; answers when each key's window ends. */
function* carry(
  tx: RuleTransaction,
  env: string,
  runId: string,
  carried: readonly Carried[],
  out: Writing,
): Rule<(number | null)[]> {
  const { pair } = carried[0]!;
  const ends: (number | null)[] = [];
  for (const { pair: each } of carried) {
    if (each.key === null) {
      ends.push(null);
      continue;
    }
    const found = yield* tx.findClaim(env, functionScope(each.fn), each.key);
    const { claim } = askFor(tx.at, found?.claim ?? null, functionKeyAsk(each, each.key, runId));
    tx.writeClaim(env, { ...claim, state: "in-flight" }, found);
    ends.push(claim.endsAt);
  }
  const rows = yield* tx.together<(EventRow | undefined)[]>(
    ...carried.map(({ eventId }) => findEvent(tx, env, eventId)),
  );
  const events = rows.map((row) => readEvent(row!));
  const opened = yield* openRun(tx, env, {
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
    code: null,
    holdsKey: pair.hold,
    ...flowOfRun(tx.at, events[0]!, pair.flow),
    carried: carried.map((each) => ({ eventId: each.eventId, key: each.pair.key })),
  });
  if (opened.run.state === "queued") out.queued = true;
  return ends;
}
