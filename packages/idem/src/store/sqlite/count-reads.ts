// Lists of ids come as one JSON text. "cross join" says in which order: from the few that were asked for to the many
// (sqlite.org/optoverview.html §7).
import { suppressedCountedMax } from "../counts.ts";
import { summaryColumns } from "../rows.ts";
import { inTail } from "../rules/count-reads.ts";
import type { Statements } from "../rules/statements.ts";
import { isAfterFailure } from "./count-decisions.ts";

// Noted when it was counted, and stays so when the run before is deleted.
const afterFailure = `
  coalesce((select s.after_failure from slips s where s.env = r.env and s.run_id = r.id), ${isAfterFailure})`;

export const headlines: Statements["headlines"] = {
  live: `
    select d.decided_at / cast(:step as integer) * cast(:step as integer) as at, d.fn, sum(d.kind = 'started' and r.event_id is d.event_id) as started,
           sum(d.kind in ('duplicate-event', 'duplicate-key')) as suppressed,
           sum(r.event_id is d.event_id and r.key is not null and r.carried is null and r.generation <> r.id) as slipped
      from decisions d left join runs r on d.kind = 'started' and r.env = d.env and r.id = d.run_id
     where ${inTail} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
     group by 1, 2`,
  liveSlips: `
    select r.id as "runId", r.generation, r.fn, r.created_at as at
      from decisions d cross join runs r on r.env = d.env and r.id = d.run_id
     where ${inTail} and d.kind = 'started' and r.event_id = d.event_id
       and r.key is not null and r.carried is null and r.generation <> r.id and not ${isAfterFailure}`,
  // The window's name is the id of the run that opened it; a batch takes many keys, and stands alone.
  group: `
    with found as (select r.id, case when r.key is not null and r.carried is null then r.generation else r.root_run_id end as root
                     from json_each(:ids) i cross join runs r on r.env = :env and r.id = i.value),
         every as (select root, root as id from found
                   union select root, id from found
                   union select found.root, s.run_id from found cross join slips s indexed by slips_by_window
                                on s.env = :env and s.generation = found.root),
         awaited as (select root, id from every
                     union select every.root, r.id from every cross join runs r indexed by runs_by_root
                                  on r.env = :env and r.root_run_id = every.id and r.rerun_of is not null)
    select awaited.root, ${afterFailure} as after_failure, ${summaryColumns} from awaited cross join runs r on r.env = :env and r.id = awaited.id
      left join jobs j on j.env = r.env and j.id = r.id
     order by r.id limit :limit`,
  starts: `
    select i.value ->> 0 as "runId", e.name as "eventName", e.caller_id as "callerId", k.reason,
           (select d.window_ends_at from decisions d
             where d.env = :env and d.event_id = i.value ->> 1 and d.fn = i.value ->> 2) as "windowEndsAt",
           (select count(*) from (select 1 from kept_decisions s indexed by decisions_by_run
                                   where s.env = :env and s.run_id = i.value ->> 0 and s.kind <> 'started'
                                     and s.kind in ('duplicate-event', 'duplicate-key') limit ${suppressedCountedMax})) as suppressed
      from json_each(:runs) i
      left join events e on e.env = :env and e.id = i.value ->> 1
      left join kept_decisions k on k.env = :env and k.event_id = i.value ->> 1 and k.fn = i.value ->> 2`,
  names: `
    select e.id as "eventId", e.name as "eventName", e.caller_id as "callerId"
      from json_each(:ids) i cross join events e on e.env = :env and e.id = i.value`,
  payloads: `
    select r.id as "runId", e.name as "eventName", case when octet_length(e.data) <= :max then e.data end as data,
           case when octet_length(r.result) <= :max then r.result end as result
      from json_each(:ids) i cross join runs r on r.env = :env and r.id = i.value
      left join events e on e.env = :env and e.id = r.event_id`,
  failures: `
    select a.run_id as "runId", a.name as step, a.attempt, substr(a.error, 1, 300) as error, a.retry_at as retryAt
      from json_each(:ids) i cross join attempts a on a.env = :env and a.run_id = i.value
     where a.stamp = (select max(l.stamp) from attempts l where l.env = :env and l.run_id = i.value)`,
};
