// Events kept until one run is started for them: a debounce for the newest after a silence, a batch for all of them. A buffer is
// emptied in one commit with what becomes of its events; the next event opens a new one.

import { batchedUntil } from "../../flow/batch/plan.ts";
import { debouncedMax, debouncedUntil, supersededBy, supersededForNothing } from "../../flow/debounce/plan.ts";
import type { BufferRule } from "../../flow/plan.ts";
import { type Decision, pausedMeanwhile } from "../../model/decision.ts";
import type { StartPair } from "../ingest.ts";
import type { Effects } from "./effects.ts";
import { answeringRun, recordDecision } from "./record-decision.ts";
import { eventOf } from "./show.ts";
import { decideStart, type StartItem } from "./start-run.ts";
import { type BufferItem, type BufferRow, bufferId, type EventRow, type Moment, never, type Tables } from "./tables.ts";

export function addToBuffer(
  tables: Tables,
  at: Moment,
  effects: Effects,
  event: EventRow,
  pair: StartPair,
  rule: BufferRule,
): void {
  const id = bufferId({ fn: pair.fn, kind: rule.kind, key: rule.key });
  const before = tables.buffers.get(id);
  // Rows are frozen; what the caller gave stays the caller's.
  const item: BufferItem = { eventId: event.id, pair: structuredClone(pair) };
  const items = [...(before?.items ?? []), item];
  const last = newest(tables, items);
  const buffer: BufferRow = {
    fn: pair.fn,
    kind: rule.kind,
    key: rule.key,
    firstAt: before?.firstAt ?? at.now,
    // An event older than the newest neither replaces it nor extends the silence.
    dueAt: before !== undefined && (rule.kind === "batch" || last !== item) ? before.dueAt : dueAt(at, rule, before),
    items,
    bytes: (before?.bytes ?? 0) + event.data.length,
  };
  tables.buffers.put(id, buffer);
  if (buffer.dueAt !== before?.dueAt) effects.buffers.add(id);
  const decision = { eventId: event.id, fn: pair.fn, runId: null, key: pair.key, windowEndsAt: null };
  const decided = { ...decision, firstEventId: null, decidedAt: at.now };
  if (rule.kind === "batch") {
    const reason = batchedUntil(rule.maxSize, buffer.dueAt);
    recordDecision(tables, at, effects, { ...decided, kind: "batched", reason });
    const isFull = items.length >= rule.maxSize || buffer.bytes >= rule.bytesMax;
    if (isFull) flush(tables, at, effects, buffer);
    return;
  }
  const supersededId =
    last !== item ? item.eventId : before === undefined ? null : newest(tables, before.items).eventId;
  const reason = debouncedUntil(buffer.dueAt);
  recordDecision(tables, at, effects, { ...decided, kind: "debounced", reason });
  if (supersededId === null) return;
  const superseded = tables.decision(supersededId, pair.fn)!;
  recordDecision(tables, at, effects, { ...superseded, reason: supersededBy(last.eventId) });
  if (items.length >= debouncedMax) flush(tables, at, effects, buffer);
}

function dueAt(at: Moment, rule: BufferRule, before: BufferRow | undefined): number {
  if (rule.kind === "batch") return at.now + rule.timeoutMs;
  const deadline = rule.timeoutMs === null ? never : (before?.firstAt ?? at.now) + rule.timeoutMs;
  return Math.min(at.now + rule.periodMs, deadline);
}

/** By the sender's word; of equal ones the last to arrive. */
export const newest = (tables: Tables, items: readonly BufferItem[]): BufferItem =>
  items.reduce((best, item) => (eventOf(tables, item.eventId).ts >= eventOf(tables, best.eventId).ts ? item : best));

// A bound on one commit; what is left is due at once.
const flushesMax = 100;

/** Empties what is due, the longest due first. Answers whether some were left. */
export function flushDue(tables: Tables, at: Moment, effects: Effects): boolean {
  const due = tables.buffers.all().filter((buffer) => buffer.dueAt <= at.now);
  due.sort((a, b) => a.dueAt - b.dueAt || (bufferId(a) < bufferId(b) ? -1 : 1));
  for (const buffer of due.slice(0, flushesMax)) flush(tables, at, effects, buffer);
  return due.length > flushesMax;
}

function flush(tables: Tables, at: Moment, effects: Effects, { fn, kind, key, items }: BufferRow): void {
  tables.buffers.delete(bufferId({ fn, kind, key }));
  const isPaused = (tables.functions.get(fn)?.pausedAt ?? null) !== null;
  if (isPaused) {
    const paused = {
      kind: "paused",
      reason: pausedMeanwhile,
      runId: null,
    } as const;
    for (const item of items) decideAgain(tables, at, effects, item, paused);
  } else if (kind === "batch") {
    const { runId } = items[0]!.pair;
    const starts = items.map((item) => startItem(tables, item));
    decideStart(tables, at, effects, { runId, items: starts, isBatch: true, leaseTo: null });
  } else {
    flushDebounce(tables, at, effects, items);
  }
  for (const { eventId } of items) {
    const decided = tables.decision(eventId, fn)!;
    // Still debounced: another event superseded it.
    if (decided.kind !== "debounced") effects.flushed.push({ eventId, kind: decided.kind });
  }
}

function flushDebounce(tables: Tables, at: Moment, effects: Effects, items: readonly BufferItem[]): void {
  const last = newest(tables, items);
  const { fn, runId } = last.pair;
  decideStart(tables, at, effects, { runId, items: [startItem(tables, last)], isBatch: false, leaseTo: null });
  const decided = tables.decision(last.eventId, fn)!;
  const reason = supersededBy(last.eventId);
  const superseded =
    answeringRun(tables, decided) !== null
      ? ({ kind: "debounced", reason, runId: decided.runId } as const)
      : // Debounced without a run would be pending for ever: it shares the fate of the newest.
        { kind: decided.kind, reason: supersededForNothing(last.eventId, decided.reason), runId: decided.runId };
  for (const item of items) if (item !== last) decideAgain(tables, at, effects, item, superseded);
}

function decideAgain(
  tables: Tables,
  at: Moment,
  effects: Effects,
  { eventId, pair }: BufferItem,
  decided: Pick<Decision, "kind" | "reason" | "runId">,
): void {
  const base = { eventId, fn: pair.fn, key: null, windowEndsAt: null, firstEventId: null, decidedAt: at.now };
  recordDecision(tables, at, effects, { ...base, ...decided });
}

const startItem = (tables: Tables, { eventId, pair }: BufferItem): StartItem => ({
  event: eventOf(tables, eventId),
  pair,
  eventClaim: null,
});
