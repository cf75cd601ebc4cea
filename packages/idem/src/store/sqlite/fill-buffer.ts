// An event is kept for a run that comes later: after a silence with the newest event, or with a whole batch of them.
import { batchedUntil, debouncedUntil, supersededBy } from "../../model/decision-reasons.ts";
import type { Event } from "../../model/event.ts";
import { type BufferRule, debouncedMax } from "../flow.ts";
import type { StartPair } from "../ingest.ts";
import type { BufferRow } from "../rows.ts";
import type { Writing } from "../writing.ts";
import { flushBuffer } from "./flush-buffer.ts";
import { recordDecision } from "./record-decision.ts";
import type { Transaction } from "./transaction.ts";

const selectBufferSql = `
  select fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair
    from buffers where env = ? and fn = ? and kind = ? and key = ?`;
const insertBufferSql = `
  insert into buffers (env, fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair)
  values (?, ?, ?, ?, ?, ?, ?, 0, 0, null, null, null)`;
const moveBufferSql = `
  update buffers set due_at = ?, count = ?, bytes = ?, event_id = ?, ts = ?, pair = ?
   where env = ? and fn = ? and kind = ? and key = ?`;
const insertItemSql = "insert into buffer_items (env, buffer_id, n, event_id, pair) values (?, ?, ?, ?, ?)";
const supersedeSql = "update decisions set reason = ? where env = ? and event_id = ? and fn = ?";

export function fillBuffer(
  tx: Transaction,
  env: string,
  event: Event,
  pair: StartPair,
  rule: BufferRule,
  out: Writing,
): void {
  const { now } = tx.at;
  const before = findBuffer(tx, env, pair.fn, rule) ?? openBuffer(tx, env, event, pair, rule);
  const base = {
    eventId: event.id,
    fn: pair.fn,
    runId: null,
    key: pair.key,
    windowEndsAt: null,
    firstEventId: null,
    decidedAt: now,
  };
  const stored = JSON.stringify({ ...pair, leaseTo: null, event: 0, flow: { ...pair.flow, buffer: null } });
  const count = before.count + 1;
  const bytes = before.bytes + event.data.length;
  const write = (dueAt: number, newest: { id: string | null; ts: number | null; pair: string | null }) => {
    const { id, ts, pair: kept } = newest;
    tx.connection.run(moveBufferSql, dueAt, count, bytes, id, ts, kept, env, pair.fn, rule.kind, rule.key);
    out.dueAt = out.dueAt === null ? dueAt : Math.min(out.dueAt, dueAt);
  };
  if (rule.kind === "debounce") {
    const isNewest = before.ts === null || event.ts >= before.ts;
    tx.connection.run(insertItemSql, env, before.id, count, event.id, null);
    const dueAt = isNewest ? Math.min(now + rule.periodMs, before.deadline ?? Number.MAX_SAFE_INTEGER) : before.due_at;
    write(
      dueAt,
      isNewest
        ? { id: event.id, ts: event.ts, pair: stored }
        : { id: before.event_id, ts: before.ts, pair: before.pair },
    );
    if (isNewest && before.event_id !== null) {
      tx.connection.run(supersedeSql, supersededBy(event.id), env, before.event_id, pair.fn);
    }
    const reason = isNewest ? debouncedUntil(dueAt) : supersededBy(before.event_id!);
    recordDecision(tx, env, out, { ...base, kind: "debounced", reason });
    if (count >= debouncedMax) flushBuffer(tx, env, findBuffer(tx, env, pair.fn, rule)!, out);
    return;
  }
  tx.connection.run(insertItemSql, env, before.id, count, event.id, stored);
  const isFull = count >= rule.maxSize || bytes >= rule.bytesMax;
  write(before.due_at, { id: null, ts: null, pair: null });
  const reason = batchedUntil(rule.maxSize, before.due_at);
  recordDecision(tx, env, out, { ...base, kind: "batched", reason });
  if (isFull) flushBuffer(tx, env, findBuffer(tx, env, pair.fn, rule)!, out);
}

const findBuffer = (tx: Transaction, env: string, fn: string, { kind, key }: BufferRule): BufferRow | undefined =>
  tx.connection.one<BufferRow>(selectBufferSql, env, fn, kind, key);

function openBuffer(tx: Transaction, env: string, event: Event, pair: StartPair, rule: BufferRule): BufferRow {
  const { now } = tx.at;
  const lastsMs = rule.kind === "debounce" ? rule.periodMs : rule.timeoutMs;
  const deadline = rule.timeoutMs === null ? null : now + rule.timeoutMs;
  const dueAt = Math.min(now + lastsMs, deadline ?? Number.MAX_SAFE_INTEGER);
  tx.known.noteBuffer();
  // Several functions may buffer one event.
  const id = `${event.id} ${pair.fn}`;
  tx.connection.run(insertBufferSql, env, pair.fn, rule.kind, rule.key, id, deadline, dueAt);
  return {
    fn: pair.fn,
    kind: rule.kind,
    key: rule.key,
    id,
    deadline,
    due_at: dueAt,
    count: 0,
    bytes: 0,
    event_id: null,
    ts: null,
    pair: null,
  };
}
