// Buffers are locked before the events that go into them are looked at, and made where there are none. One that stayed empty, because
// its events were duplicates, is removed again.

import { debouncedMax } from "../../flow/debounce/plan.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { StartPair } from "../ingest.ts";
import { bufferId, bufferTimes } from "../rules/fill-buffer.ts";
import type { Asking } from "../rules/new-run.ts";
import type { Transaction } from "./transaction.ts";

const lockBuffersSql = `
  insert into buffers (env, fn, kind, key, id, deadline, due_at, count, bytes)
  select env, fn, kind, key, id, deadline, due_at, 0, 0
    from unnest(cast(:envs as text[]), cast(:fns as text[]), cast(:kinds as text[]), cast(:keys as text[]), cast(:ids as text[]),
                cast(:deadlines as bigint[]), cast(:dues as bigint[])) as asked (env, fn, kind, key, id, deadline, due_at)
  on conflict (env, fn, kind, key) do update set count = buffers.count
  returning env, fn, kind, key, id, count, bytes, pair`;
const storedPairsSql = `
  select env, pair from unnest(cast(:envs as text[]), cast(:ids as text[])) as asked (buffer_env, buffer_id)
   cross join lateral (select env, pair, n from buffer_items
                        where env = asked.buffer_env and buffer_items.buffer_id = asked.buffer_id and pair is not null offset 0) item
   order by asked.buffer_id, n`;
const dropEmptySql = "delete from buffers where env = ? and fn = ? and kind = ? and key = ?";

export interface EmptyBuffer {
  readonly env: string;
  readonly fn: string;
  readonly kind: BufferRule["kind"];
  readonly key: string;
}

interface Locked extends EmptyBuffer {
  readonly id: string;
  readonly count: number;
  readonly bytes: number;
  readonly pair: string | null;
}

/** What goes into one buffer. */
interface Filling {
  readonly env: string;
  readonly fn: string;
  readonly rule: BufferRule;
  readonly eventId: string;
  readonly pairs: StartPair[];
  bytes: number;
}

export const bufferName = (env: string, fn: string, { kind, key }: Pick<BufferRule, "kind" | "key">): string =>
  JSON.stringify([env, fn, kind, key]);

/** Answers the pairs that ask now, because with these events their buffer is full. */
export async function lockBuffers(tx: Transaction, askings: readonly Asking[]) {
  const fillings = new Map<string, Filling>();
  for (const { env, events, pairs } of askings) {
    for (const pair of pairs) {
      const rule = pair.kind === "start" ? (pair.flow?.buffer ?? null) : null;
      if (rule === null) continue;
      const event = events[pair.event]!;
      const name = bufferName(env, pair.fn, rule);
      const filling = fillings.get(name) ?? { env, fn: pair.fn, rule, eventId: event.id, pairs: [], bytes: 0 };
      fillings.set(name, filling);
      filling.pairs.push(pair as StartPair);
      filling.bytes += event.data.length;
    }
  }
  const inOrder = [...fillings].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, filling]) => filling);
  const times = inOrder.map(({ rule }) => bufferTimes(rule, tx.at.now));
  const rows = await tx.connection.find<Locked>(lockBuffersSql, {
    envs: inOrder.map(({ env }) => env),
    fns: inOrder.map(({ fn }) => fn),
    kinds: inOrder.map(({ rule }) => rule.kind),
    keys: inOrder.map(({ rule }) => rule.key),
    ids: inOrder.map(({ eventId, fn }) => bufferId(eventId, fn)),
    deadlines: times.map(({ deadline }) => deadline),
    dues: times.map(({ dueAt }) => dueAt),
  });
  const full: Locked[] = [];
  const asking: { env: string; pair: StartPair }[] = [];
  for (const row of rows) {
    const filling = fillings.get(bufferName(row.env, row.fn, row))!;
    if (row.count === 0) tx.ahead.emptyBuffers.set(bufferName(row.env, row.fn, row), row);
    if (!isFull(filling, row)) continue;
    full.push(row);
    for (const pair of filling.pairs) asking.push({ env: row.env, pair: { ...pair, leaseTo: null } });
    if (row.pair !== null) asking.push({ env: row.env, pair: JSON.parse(row.pair) as StartPair });
  }
  if (full.length === 0) return asking;
  const stored = await tx.connection.find<{ env: string; pair: string }>(storedPairsSql, {
    envs: full.map(({ env }) => env),
    ids: full.map(({ id }) => id),
  });
  return [...stored.map(({ env, pair }) => ({ env, pair: JSON.parse(pair) as StartPair })), ...asking];
}

const isFull = ({ rule, pairs, bytes }: Filling, before: Locked): boolean =>
  rule.kind === "debounce"
    ? before.count + pairs.length >= debouncedMax
    : before.count + pairs.length >= rule.maxSize || before.bytes + bytes >= rule.bytesMax;

/** A buffer that was made here and that nothing came into leaves nothing behind. */
export function dropEmptyBuffers(tx: Transaction): void {
  for (const { env, fn, kind, key } of tx.ahead.emptyBuffers.values()) {
    tx.connection.write(dropEmptySql, env, fn, kind, key);
  }
}
