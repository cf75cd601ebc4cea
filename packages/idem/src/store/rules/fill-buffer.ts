// An event is kept for a run that comes later: after a silence with the newest event, or with a whole batch of them.

import { batchedUntil } from "../../flow/batch/plan.ts";
import { debouncedMax, debouncedUntil, supersededBy } from "../../flow/debounce/plan.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { Event } from "../../model/event.ts";
import type { StartPair } from "../ingest.ts";
import type { BufferRow } from "../rows.ts";
import type { Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { flushBuffer } from "./flush-buffer.ts";
import { recordDecision } from "./record-decision.ts";
import type { Asked, Rule } from "./rule.ts";

const moveBufferSql = `
  update buffers set due_at = ?, count = ?, bytes = ?, event_id = ?, ts = ?, pair = ?
   where env = ? and fn = ? and kind = ? and key = ?`;
const insertItemSql = "insert into buffer_items (env, buffer_id, n, event_id, pair) values (?, ?, ?, ?, ?)";

export function* fillBuffer(
  tx: RuleTransaction,
  env: string,
  { event, pair, rule }: { readonly event: Event; readonly pair: StartPair; readonly rule: BufferRule },
  out: Writing,
): Rule<void> {
  const { now } = tx.at;
  const before = yield* tx.openBuffer(env, event, pair, rule);
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
    tx.write(moveBufferSql, dueAt, count, bytes, id, ts, kept, env, pair.fn, rule.kind, rule.key);
    out.dueAt = out.dueAt === null ? dueAt : Math.min(out.dueAt, dueAt);
  };
  if (rule.kind === "debounce") {
    const isNewest = before.ts === null || event.ts >= before.ts;
    tx.write(insertItemSql, env, before.id, count, event.id, null);
    const dueAt = isNewest ? Math.min(now + rule.periodMs, before.deadline ?? Number.MAX_SAFE_INTEGER) : before.due_at;
    write(
      dueAt,
      isNewest
        ? { id: event.id, ts: event.ts, pair: stored }
        : { id: before.event_id, ts: before.ts, pair: before.pair },
    );
    if (isNewest && before.event_id !== null) {
      tx.write(tx.sql.decisions.reason, supersededBy(event.id), env, before.event_id, pair.fn);
    }
    const reason = isNewest ? debouncedUntil(dueAt) : supersededBy(before.event_id!);
    recordDecision(tx, env, out, { ...base, kind: "debounced", reason });
    if (count >= debouncedMax) yield* flushBuffer(tx, env, (yield* findBuffer(tx, env, pair.fn, rule))!, out);
    return;
  }
  tx.write(insertItemSql, env, before.id, count, event.id, stored);
  const isFull = count >= rule.maxSize || bytes >= rule.bytesMax;
  write(before.due_at, { id: null, ts: null, pair: null });
  const reason = batchedUntil(rule.maxSize, before.due_at);
  recordDecision(tx, env, out, { ...base, kind: "batched", reason });
  if (isFull) yield* flushBuffer(tx, env, (yield* findBuffer(tx, env, pair.fn, rule))!, out);
}

/** The buffer's row, and on PostgreSQL its lock: events are counted one after another. */
export const findBuffer = (
  tx: RuleTransaction,
  env: string,
  fn: string,
  { kind, key }: Pick<BufferRule, "kind" | "key">,
): Asked<BufferRow | undefined> => tx.one<BufferRow>(tx.sql.buffers.find, env, fn, kind, key);

/** When a buffer that is begun now becomes a run, and when at the latest. */
export function bufferTimes(
  rule: BufferRule,
  now: number,
): { readonly dueAt: number; readonly deadline: number | null } {
  const lastsMs = rule.kind === "debounce" ? rule.periodMs : rule.timeoutMs;
  const deadline = rule.timeoutMs === null ? null : now + rule.timeoutMs;
  return { dueAt: Math.min(now + lastsMs, deadline ?? Number.MAX_SAFE_INTEGER), deadline };
}

/** Several functions may buffer one event. */
export const bufferId = (eventId: string, fn: string): string => `${eventId} ${fn}`;
