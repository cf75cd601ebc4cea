// Decisions are counted by hour, behind a cursor, and the runs among them that slipped through are noted. 2,000 of them take some
// 5 ms, in which commits wait.
import { bufferedHoldMs, type CountAnswer, type CountInput, hourMs, hoursKeptMs } from "../counts.ts";
import { leastIdAt } from "../id-times.ts";
import { isAfterFailure } from "./after-failure.ts";
import type { Transaction } from "./transaction.ts";

const cursorSql = "select event_id as eventId, fn from hour_cursors where env = ?";
const moveCursorSql = `
  insert into hour_cursors (env, event_id, fn) values (?, ?, ?)
  on conflict (env) do update set event_id = excluded.event_id, fn = excluded.fn`;
// A buffer decides its events again when it is flushed; paused and held ones wait for a person, and are not waited for.
const bufferedSql = `
  select event_id as eventId from decisions indexed by decisions_pending
   where env = ? and event_id >= ? and run_id is null and kind in ('held', 'paused', 'debounced', 'batched')
     and kind in ('debounced', 'batched')
   order by event_id limit 1`;
const lastSql = `
  select event_id as eventId, fn from decisions
   where env = :env and (event_id, fn) > (:eventId, :fn) and event_id < :end order by event_id, fn limit 1 offset :skip`;
const lastOfAllSql = `
  select event_id as eventId, fn from decisions
   where env = :env and (event_id, fn) > (:eventId, :fn) and event_id < :end order by event_id desc, fn desc limit 1`;
const inRange = "d.env = ? and (d.event_id, d.fn) > (?, ?) and (d.event_id, d.fn) <= (?, ?)";
// The events of a batch are all decided to have started its run; the run is its first event's.
const countSql = `
  insert into hour_counts (env, hour, fn, started, suppressed)
  select d.env, d.decided_at / ${hourMs} * ${hourMs}, d.fn,
         sum(d.kind = 'started' and r.event_id is d.event_id), sum(d.kind in ('duplicate-event', 'duplicate-key'))
    from decisions d left join runs r on d.kind = 'started' and r.env = d.env and r.id = d.run_id
   where ${inRange} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
   group by 1, 2, 3
  on conflict (env, hour, fn) do update
     set started = started + excluded.started, suppressed = suppressed + excluded.suppressed`;
const slipsSql = `
  insert into slips (env, run_id, generation, fn, at, after_failure)
  select r.env, r.id, r.generation, r.fn, r.created_at, ${isAfterFailure}
    from decisions d join runs r on r.env = d.env and r.id = d.run_id
   where ${inRange} and d.kind = 'started' and r.event_id = d.event_id
     and r.key is not null and r.carried is null and r.generation <> r.id
  on conflict do nothing`;
const forgetHoursSql = "delete from hour_counts where env = ? and hour < ?";
const forgetSlipsSql = "delete from slips where env = ? and run_id < ?";

interface Cursor {
  readonly eventId: string;
  readonly fn: string;
}

export function countDecisions({ connection }: Transaction, { env, until, max }: CountInput): CountAnswer {
  const from = connection.one<Cursor>(cursorSql, env) ?? { eventId: "", fn: "" };
  const held = connection.one<Cursor>(bufferedSql, env, later(from.eventId, leastIdAt(until - bufferedHoldMs)));
  const end = earlier(held?.eventId, leastIdAt(until));
  const asked = { env, ...from, end };
  const full = connection.find<Cursor>(lastSql, { ...asked, skip: max - 1 })[0];
  const last = full ?? connection.find<Cursor>(lastOfAllSql, asked)[0];
  if (last === undefined) return { isAll: true };
  const range = [env, from.eventId, from.fn, last.eventId, last.fn] as const;
  connection.run(countSql, ...range);
  connection.run(slipsSql, ...range);
  connection.run(moveCursorSql, env, last.eventId, last.fn);
  connection.run(forgetHoursSql, env, until - hoursKeptMs);
  connection.run(forgetSlipsSql, env, leastIdAt(until - hoursKeptMs));
  return { isAll: full === undefined };
}

const later = (one: string, other: string): string => (one > other ? one : other);
const earlier = (one: string | undefined, other: string): string => (one !== undefined && one < other ? one : other);
