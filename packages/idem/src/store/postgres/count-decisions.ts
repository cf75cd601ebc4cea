import { hourMs } from "../counts.ts";
import { isAfterFailure as asked, gatheredSql, pendingSql } from "../rows.ts";
import type { Statements } from "../rules/statements.ts";

/** For `runs r`, as the shared one. The index holds the beginnings of subjects, so those are asked for beside the whole. */
export const isAfterFailure = asked.replace(
  "a.subject = 'fn:' || r.fn || ' ' || r.key",
  (whole) => `left(a.subject, 100) = left('fn:' || r.fn || ' ' || r.key, 100) and ${whole}`,
);

const inRange = "d.env = ? and (d.event_id, d.fn) > (?, ?) and (d.event_id, d.fn) <= (?, ?)";

export const counts: Statements["counts"] = {
  cursor: `select event_id as "eventId", fn from hour_cursors where env = ? for update`,
  // A buffer decides its events again when it is flushed; paused and held ones wait for a person, and are not waited for.
  buffered: `
    select event_id as "eventId" from decisions
     where env = ? and event_id >= ? and run_id is null and kind in (${pendingSql})
       and kind in (${gatheredSql})
     order by event_id limit 1`,
  // The events of a batch are all decided to have started its run; the run is its first event's.
  count: `
    insert into hour_counts (env, hour, fn, started, suppressed)
    select d.env, d.decided_at / ${hourMs} * ${hourMs}, d.fn,
           count(*) filter (where d.kind = 'started' and r.event_id = d.event_id), count(*) filter (where d.kind <> 'started')
      from decisions d
      left join lateral (select event_id from runs where d.kind = 'started' and env = d.env and id = d.run_id limit 1) r on true
     where ${inRange} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
     group by 1, 2, 3
    on conflict (env, hour, fn) do update
       set started = hour_counts.started + excluded.started, suppressed = hour_counts.suppressed + excluded.suppressed`,
  slips: `
    insert into slips (env, run_id, generation, fn, at, after_failure)
    select r.env, r.id, r.generation, r.fn, r.created_at, cast(${isAfterFailure} as integer)
      from decisions d
      join lateral (select * from runs where env = d.env and id = d.run_id limit 1) r on true
     where ${inRange} and d.kind = 'started' and r.event_id = d.event_id
       and r.key is not null and r.carried is null and r.generation <> r.id
    on conflict do nothing`,
};
