// Decisions are counted by hour, behind a cursor, and the runs among them that slipped through are noted.
import { bufferedHoldMs, type CountAnswer, type CountInput, hoursKeptMs } from "../counts.ts";
import { leastIdAt } from "../id-times.ts";
import type { RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

// A row that is there can be locked: nodes take turns on it, and nobody else waits for it.
const placeCursorSql = "insert into hour_cursors (env, event_id, fn) values (?, '', '') on conflict do nothing";
const moveCursorSql = "update hour_cursors set event_id = ?, fn = ? where env = ?";
const lastSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and (event_id, fn) > (:eventId, :fn) and event_id < :end order by event_id, fn limit 1 offset :skip`;
const lastOfAllSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and (event_id, fn) > (:eventId, :fn) and event_id < :end order by event_id desc, fn desc limit 1`;
const forgetHoursSql = "delete from hour_counts where env = ? and hour < ?";
const forgetSlipsSql = "delete from slips where env = ? and run_id < ?";

interface Cursor {
  readonly eventId: string;
  readonly fn: string;
}

export function* countDecisions(tx: RuleTransaction, { env, until, max }: CountInput): Rule<CountAnswer> {
  const { sql } = tx;
  tx.write(placeCursorSql, env);
  const from = (yield* tx.one<Cursor>(sql.counts.cursor, env))!;
  const held = yield* tx.one<Cursor>(sql.counts.buffered, env, later(from.eventId, leastIdAt(until - bufferedHoldMs)));
  const asked = { env, eventId: from.eventId, fn: from.fn, end: earlier(held?.eventId, leastIdAt(until)) };
  const full = (yield* tx.find<Cursor>(lastSql, { ...asked, skip: max - 1 }))[0];
  const last = full ?? (yield* tx.find<Cursor>(lastOfAllSql, asked))[0];
  if (last === undefined) return { isAll: true };
  const range = [env, from.eventId, from.fn, last.eventId, last.fn] as const;
  tx.write(sql.counts.count, ...range);
  tx.write(sql.counts.slips, ...range);
  tx.write(moveCursorSql, last.eventId, last.fn, env);
  tx.write(forgetHoursSql, env, until - hoursKeptMs);
  tx.write(forgetSlipsSql, env, leastIdAt(until - hoursKeptMs));
  return { isAll: full === undefined };
}

const later = (one: string, other: string): string => (one > other ? one : other);
const earlier = (one: string | undefined, other: string): string => (one !== undefined && one < other ? one : other);
