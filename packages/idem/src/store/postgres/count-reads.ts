// The limits keep the planner from joining whole tables (docs/reference/stores.md#plans).
import { suppressedCountedMax } from "../counts.ts";
import { jobOfRunColumns, summaryColumns } from "../rows.ts";
import { inTail } from "../rules/count-reads.ts";
import type { Statements } from "../rules/statements.ts";
import { isAfterFailure } from "./count-decisions.ts";

// Where it was counted it is noted, and stays so when the run before is deleted.
const afterFailure = `
  coalesce((select s.after_failure from slips s where s.env = r.env and s.run_id = r.id), cast(${isAfterFailure} as integer))`;

export const headlines: Statements["headlines"] = {
  live: `
    select d.decided_at / cast(:step as bigint) * cast(:step as bigint) as at, d.fn, count(*) filter (where d.kind = 'started' and r.event_id = d.event_id) as started,
           count(*) filter (where d.kind <> 'started') as suppressed,
           count(*) filter (where r.event_id = d.event_id and r.is_slip) as slipped
      from decisions d
      left join lateral (select event_id, key is not null and carried is null and generation <> id as is_slip
                           from runs where d.kind = 'started' and env = d.env and id = d.run_id limit 1) r on true
     where ${inTail} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
     group by 1, 2`,
  liveSlips: `
    select r.id as "runId", r.generation, r.fn, r.created_at as at
      from decisions d
      join lateral (select * from runs where env = d.env and id = d.run_id limit 1) r on r.event_id = d.event_id
     where ${inTail} and d.kind = 'started'
       and r.key is not null and r.carried is null and r.generation <> r.id and not ${isAfterFailure}`,
  // The window's name is the id of the run that opened it; a batch takes many keys, and stands alone.
  group: `
    with found as (select r.id, case when r.key is not null and r.carried is null then r.generation else r.root_run_id end as root
                     from unnest(cast(:ids as text[])) i (id)
                     join lateral (select * from runs where env = :env and id = i.id limit 1) r on true),
         opened as (select root, root as id from found
                    union select root, id from found
                    union select f.root, s.run_id from found f
                            join lateral (select run_id from slips where env = :env and generation = f.root limit :limit) s on true),
         shared as (select root, id from opened
                    union select o.root, r.id from opened o
                            join lateral (select id from runs where env = :env and root_run_id = o.id and rerun_of is not null
                                           limit :limit) r on true)
    select m.root, ${afterFailure} as after_failure, ${summaryColumns}
      from shared m
      join lateral (select * from runs where env = :env and id = m.id limit 1) r on true
      left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true
     order by r.id limit :limit`,
  starts: `
    select i.run_id as "runId", e.name as "eventName", e.caller_id as "callerId", d.reason, d.window_ends_at as "windowEndsAt",
           (select count(*) from (select 1 from decisions s
                                   where s.env = :env and s.run_id = i.run_id and s.kind <> 'started'
                                     and s.kind in ('duplicate-event', 'duplicate-key') limit ${suppressedCountedMax}) c) as suppressed
      from unnest(cast(:ids as text[]), cast(:events as text[]), cast(:fns as text[])) i (run_id, event_id, fn)
      left join lateral (select name, caller_id from events where env = :env and id = i.event_id limit 1) e on true
      left join lateral (select reason, window_ends_at from decisions
                          where env = :env and event_id = i.event_id and fn = i.fn limit 1) d on true`,
  names: `
    select i.id as "eventId", e.name as "eventName", e.caller_id as "callerId"
      from unnest(cast(:ids as text[])) i (id)
      join lateral (select name, caller_id from events where env = :env and id = i.id limit 1) e on true`,
  payloads: `
    select r.id as "runId", e.name as "eventName", case when octet_length(e.data) <= :max then e.data end as data,
           case when octet_length(r.result) <= :max then r.result end as result
      from unnest(cast(:ids as text[])) i (id)
      join lateral (select id, event_id, result from runs where env = :env and id = i.id limit 1) r on true
      left join lateral (select name, data from events where env = :env and id = r.event_id limit 1) e on true`,
  failures: `
    select i.id as "runId", a.name as step, a.attempt, substr(a.error, 1, 300) as error, a.retry_at as "retryAt"
      from unnest(cast(:ids as text[])) i (id)
      join lateral (select name, attempt, error, retry_at from attempts
                     where env = :env and run_id = i.id order by stamp desc limit 1) a on true`,
};
