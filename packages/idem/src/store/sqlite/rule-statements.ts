// SQLite's own statements for the rules. Indexes are named where the planner, without statistics, would take another (plans.test.ts).
import { tickEventName } from "../../model/tick.ts";
import { eventColumns, waitColumns } from "../rows.ts";
import { decideAgainSql, newDecisions } from "../rules/record-decision.ts";
import type { Statements } from "../rules/statements.ts";
import { counts, isAfterFailure } from "./count-decisions.ts";
import { headlines } from "./count-reads.ts";
import { lists } from "./list-reads.ts";
import { pages } from "./page-reads.ts";
import { audit } from "./write-audit.ts";

const bufferColumns = "fn, kind, key, id, deadline, due_at, count, bytes, event_id, ts, pair";

export const statements: Statements = {
  alerts: {
    knownPairs: `
      select later_id from alert_pairs
       where env = ? and alert_id = ? and later_id in (select value from json_each(?))`,
    deletePairs: `
      delete from alert_pairs where env = ? and alert_id = ? and later_id in (
        select later_id from alert_pairs where env = ? and alert_id = ? order by later_id limit ?)`,
  },
  channels: {
    rows: `
      select name as channel, base, floor, last from channels
       where env = ? and name in (select value from json_each(?))`,
    forget: `
      delete from channels where (env, name) in (
        select env, name from channels indexed by channels_by_time where at < ? and bytes = 0 order by at limit ?)`,
  },
  counts,
  ends: { forget: "delete from end_notes where n in (select cast(value as integer) from json_each(?))" },
  leases: {
    nextTimer: `
      select min(due_at) as due_at from jobs indexed by jobs_timers
       where env = ? and leased_by is null and due_at is not null and due_at > ?`,
    nextOverdue: `
      select min(start_by) as start_by from jobs indexed by jobs_start_by
       where env = ? and leased_by is null and start_by is not null and start_by > ?`,
  },
  memo: {
    carried: `
      select ${eventColumns} from run_events b join events e on e.env = b.env and e.id = b.event_id
       where b.env = ? and b.run_id = ? order by b.n`,
  },
  decisions: {
    lock: `
      select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
        from decisions where env = ? and event_id = ? and fn = ?`,
    added: newDecisions("kept_decisions"),
    again: decideAgainSql("kept_decisions"),
    // One that its run tells is kept from now on.
    reason: `
      insert into kept_decisions (env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at)
      select env, event_id, fn, kind, ?, run_id, key, window_ends_at, first_event_id, decided_at
        from decisions where env = ? and event_id = ? and fn = ?
      on conflict (env, event_id, fn) do update set reason = excluded.reason`,
  },
  jobs: {
    hold: "select lost_workers from jobs where env = ? and id = ? and fence = ? and leased_by = ?",
    end: `
      delete from jobs where env = ? and id = ? and fence = ? and leased_by = ?
      returning had_waits, lane, beside_1, beside_2`,
    bornLeased: "select 1 from jobs where env = ? and id = ? and leased_by = ? and fence = 1 and born_leased = 1",
  },
  runs: {
    // The file's owner knows which runs are waited for.
    end: `
      update runs set ended_state = ?, result = ?, ended_at = ?, ended_fence = ?
       where env = ? and id = ? and ended_state is null
      returning fn, key, holds_key, singleton, carried, 1 as awaited, created_at, started_at`,
    lock: "select 1 from runs where env = ? and id = ?",
  },
  waits: {
    forChild: `
      select ${waitColumns}
        from waits indexed by waits_by_child where env = ? and child_run_id = ? order by stamp`,
    signalHolder: "select run_id, step_id from waits indexed by waits_by_signal where env = ? and signal = ?",
    ofSignal: `select ${waitColumns} from waits indexed by waits_by_signal where env = ? and signal = ?`,
  },
  cancels: {
    candidates: `
      select c.run_id, c.rest, ${eventColumns}
        from cancels c indexed by cancels_by_event
        join runs r on r.env = c.env and r.id = c.run_id
        join events e on e.env = r.env and e.id = r.event_id
       where c.env = ? and c.event_name = ? and c.path = ? and c.value = ? and c.stamp < ?
         and (c.ends_at is null or c.ends_at > ?)`,
  },
  buffers: {
    due: `
      select ${bufferColumns} from buffers indexed by buffers_by_due
       where env = ? and due_at <= ? order by due_at limit ?`,
    nextDue: "select min(due_at) as due_at from buffers indexed by buffers_by_due where env = ?",
    find: `select ${bufferColumns} from buffers where env = ? and fn = ? and kind = ? and key = ?`,
  },
  rates: {
    forget: `
      delete from rate_starts where env = :env and id = :id and stamp in (
        select stamp from rate_starts where env = :env and id = :id and at <= :before order by stamp limit 100)`,
    count: "insert into rate_starts (env, id, stamp, at) values (:env, :id, :stamp, :at)",
  },
  throttles: {
    find: "select tat from throttles where env = ? and id = ?",
  },
  pages,
  lists,
  headlines,
  audit,
  history: {
    // Reruns are left out: a person asked for those. So are batches, whose events have keys of their own, and ticks, which are claimed by
    // their instant.
    opened: `
      select r.id as run_id, r.key as run_key, r.created_at, ${isAfterFailure} as after_failure, ${eventColumns}
        from runs r indexed by runs_by_function join events e on e.env = r.env and e.id = r.event_id
       where r.env = ? and r.fn = ? and r.id >= ? and r.id < ? and r.rerun_of is null
         and r.carried is null and e.name <> '${tickEventName}'
       order by r.id desc limit ?`,
    events: `select ${eventColumns} from events e where e.env = ? and e.id in (select value from json_each(?))`,
  },
};
