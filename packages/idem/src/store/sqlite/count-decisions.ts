// 1,000 of them take some 5 ms, in which commits wait.

import { hourMs } from "../counts.ts";
import { isAfterFailure as asked, gatheredSql, pendingSql } from "../rows.ts";
import type { Statements } from "../rules/statements.ts";

/** For `runs r`, as the shared one. The index is named: without statistics the planner walks through the whole audit of an environment. */
export const isAfterFailure = asked.replace("from audit a", "from audit a indexed by audit_by_subject");

const inRange = "d.env = ? and (d.event_id, d.fn) > (?, ?) and (d.event_id, d.fn) <= (?, ?)";

export const counts: Statements["counts"] = {
  cursor: `select event_id as "eventId", fn from hour_cursors where env = ?`,
  // A buffer decides its events again when it is flushed; paused and held ones wait for a person, and are not waited for.
  buffered: `
    select event_id as "eventId" from kept_decisions indexed by decisions_pending
     where env = ? and event_id >= ? and run_id is null and kind in (${pendingSql})
       and kind in (${gatheredSql})
     order by event_id limit 1`,
  // The events of a batch are all decided to have started its run; the run is its first event's.
  count: `
    insert into hour_counts (env, hour, fn, started, suppressed)
    select d.env, d.decided_at / ${hourMs} * ${hourMs}, d.fn,
           sum(d.kind = 'started' and r.event_id is d.event_id), sum(d.kind in ('duplicate-event', 'duplicate-key'))
      from decisions d left join runs r on d.kind = 'started' and r.env = d.env and r.id = d.run_id
     where ${inRange} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
     group by 1, 2, 3
    on conflict (env, hour, fn) do update
       set started = started + excluded.started, suppressed = suppressed + excluded.suppressed`,
  slips: `
    insert into slips (env, run_id, generation, fn, at, after_failure)
    select r.env, r.id, r.generation, r.fn, r.created_at, ${isAfterFailure}
      from decisions d join runs r on r.env = d.env and r.id = d.run_id
     where ${inRange} and d.kind = 'started' and r.event_id = d.event_id
       and r.key is not null and r.carried is null and r.generation <> r.id
    on conflict do nothing`,
};
