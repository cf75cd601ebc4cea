// PostgreSQL's own statements for the rules. What is read to be written is locked by being read; "limit 1" and "offset 0" inside a join
// keep the planner, which cannot know how few rows are asked for, from joining whole tables.
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
    knownPairs: "select later_id from alert_pairs where env = ? and alert_id = ? and later_id = any(cast(? as text[]))",
    deletePairs: `
      delete from alert_pairs where env = ? and alert_id = ? and later_id = any(array(
        select later_id from alert_pairs where env = ? and alert_id = ? order by later_id limit ?))`,
  },
  channels: {
    rows: "select name as channel, base, floor, last from channels where env = ? and name = any(cast(? as text[]))",
    // One that somebody publishes to just now stays.
    forget: `
      delete from channels where ctid = any(array(
        select ctid from channels where at < ? and bytes = 0 order by at limit ? for update skip locked))`,
  },
  counts,
  ends: { forget: "delete from end_notes where n = any(cast(cast(? as text[]) as bigint[]))" },
  leases: {
    nextTimer: `
      select min(due_at) as due_at from jobs
       where env = ? and leased_by is null and due_at is not null and due_at > ?`,
    nextOverdue: `
      select min(start_by) as start_by from jobs
       where env = ? and leased_by is null and start_by is not null and start_by > ?`,
  },
  memo: {
    carried: `
      select ${eventColumns}
        from run_events b cross join lateral (select * from events where env = b.env and id = b.event_id limit 1) e
       where b.env = ? and b.run_id = ? order by b.n`,
  },
  decisions: {
    lock: `
      select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
        from decisions where env = ? and event_id = ? and fn = ? for update`,
    added: newDecisions("decisions"),
    again: decideAgainSql("decisions"),
    reason: "update decisions set reason = ? where env = ? and event_id = ? and fn = ?",
  },
  // "coalesce": found by its id, never by all that its worker holds or has held.
  jobs: {
    hold: `
      select lost_workers from jobs
       where env = ? and id = ? and fence = ? and coalesce(leased_by, '') = ? for update`,
    end: `
      delete from jobs where env = ? and id = ? and fence = ? and coalesce(leased_by, '') = ?
      returning had_waits, lane, beside_1, beside_2`,
    bornLeased: `
      select 1 from jobs where env = ? and id = ? and coalesce(leased_by, '') = ? and fence = 1 and born_leased = 1`,
  },
  runs: {
    end: `
      update runs set ended_state = ?, result = ?, ended_at = greatest(cast(? as bigint), created_at), ended_fence = ?
       where env = ? and id = ? and ended_state is null
      returning fn, key, holds_key, singleton, carried, awaited, created_at, started_at`,
    // A chain of reruns grows one at a time, and is not pruned meanwhile.
    lock: "select 1 from runs where env = ? and id = ? for update",
  },
  waits: {
    // In the order in which everybody locks runs.
    forChild: `
      select * from (select ${waitColumns}, stamp from waits where env = ? and child_run_id = ? offset 0) w order by run_id, stamp`,
    signalHolder: "select run_id, step_id from waits where env = ? and signal = ? for update",
    ofSignal: `select ${waitColumns} from waits where env = ? and signal = ?`,
  },
  cancels: {
    candidates: `
      select c.run_id, c.rest, ${eventColumns}
        from cancels c
       cross join lateral (select event_id from runs where env = c.env and id = c.run_id limit 1) r
       cross join lateral (select * from events where env = c.env and id = r.event_id limit 1) e
       where c.env = ? and c.event_name = ? and c.path = ? and c.value = ? and c.stamp < ?
         and (c.ends_at is null or c.ends_at > ?)`,
  },
  buffers: {
    due: `
      select ${bufferColumns} from buffers
       where env = ? and due_at > 0 and due_at <= ? order by due_at limit ? for update skip locked`,
    nextDue: "select min(due_at) as due_at from buffers where env = ? and due_at > 0",
    find: `select ${bufferColumns} from buffers where env = ? and fn = ? and kind = ? and key = ? for update`,
  },
  rates: {
    forget: `
      delete from rate_starts where env = :env and id = :id and (stamp, run_id) in (
        select stamp, run_id from rate_starts where env = :env and id = :id and at <= :before order by stamp limit 100)`,
    count: "insert into rate_starts (env, id, stamp, run_id, at) values (:env, :id, :stamp, :runId, :at)",
  },
  throttles: {
    // A row is made where there is none, so that two who ask at once take turns.
    find: `
      insert into throttles (env, id, tat) values (?, ?, 0)
      on conflict (env, id) do update set tat = throttles.tat returning tat`,
  },
  pages,
  lists,
  headlines,
  audit,
  history: {
    // Reruns are left out: a person asked for those. So are batches, whose events have keys of their own, and ticks, which are claimed by
    // their instant. Events are looked up one by one: the planner cannot know that a page is small.
    opened: `
      select r.id as run_id, r.key as run_key, r.created_at, ${isAfterFailure} as after_failure, ${eventColumns}
        from runs r join lateral (select * from events where env = r.env and id = r.event_id limit 1) e on true
       where r.env = ? and r.fn = ? and r.id >= ? and r.id < ? and r.rerun_of is null
         and r.carried is null and e.name <> '${tickEventName}'
       order by r.id desc limit ?`,
    events: `select ${eventColumns} from events e where e.env = ? and e.id = any(cast(? as text[]))`,
  },
};
