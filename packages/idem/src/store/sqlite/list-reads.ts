// SQLite's own statements of rules/reads.ts.
import { pendingCountedMax, previewChars } from "../reads.ts";
import { boundedEventColumns, decisionColumns, eventColumns, pendingSql, runColumns } from "../rows.ts";
import type { Statements } from "../rules/statements.ts";
import { makingKinds } from "../steps.ts";
import { indexedTo } from "./claim-index.ts";

const runsFrom = "from runs r left join jobs j on j.env = r.env and j.id = r.id";
// A function key whose run has ended is settled; the claim itself is not written again for that (end-run.ts).
export const claimColumns = `scope, key, holder, fence, generation,
  case when state = 'in-flight' and exists (
    select 1 from runs r where r.env = claims.env and r.id = claims.holder and r.ended_state is not null
  ) then 'settled' else state end as state,
  fingerprint, taken_at, lease_until, ends_at, held, asked,
  last_asked_at, outcome`;

export const lists: Statements["lists"] = {
  runs: `select ${runColumns} ${runsFrom} where r.env = ? and r.id < ? order by r.id desc limit ?`,
  runsOfFunction: `
    select ${runColumns} from runs r indexed by runs_by_function left join jobs j on j.env = r.env and j.id = r.id
     where r.env = ? and r.fn = ? and r.id < ? order by r.id desc limit ?`,
  // Open runs are few and have a job each; the queue finds them without reading history.
  openRuns: `
    select ${runColumns} from jobs j join runs r on r.env = j.env and r.id = j.id
     where j.env = ? and j.kind = 'run' and j.id < ? order by j.id desc limit ?`,
  runsOfEvent: `
    with started as (select run_id from decisions where env = ? and event_id = ? and kind = 'started'),
         every as (select run_id from started
                   union all
                   select r.id from started s cross join runs r indexed by runs_by_root on r.root_run_id = s.run_id
                    where r.env = ? and r.rerun_of is not null)
    select ${runColumns} from every cross join runs r on r.env = ? and r.id = every.run_id
      left join jobs j on j.env = r.env and j.id = r.id
     where r.id < ? order by r.id desc limit ?`,
  duplicates: `
    select ${eventColumns} from events e indexed by events_by_first
     where e.env = ? and e.first_event_id = ? order by e.id limit ?`,
  duplicatesOfRun: `
    select ${decisionColumns}
      from kept_decisions d indexed by decisions_by_run
     where d.env = ? and d.run_id = ? and d.event_id > ? and d.kind <> 'started' order by d.event_id limit ?`,
  decisionsOfEvents: `
    select ${decisionColumns} from decisions d
     where d.env = :env and d.event_id in (select value from json_each(:ids)) order by d.event_id, d.fn`,
  // The tree and the claims that are not in it yet, each in order.
  claims: `
    with found (scope, key, n) as (
      select scope, key, n from claim_keys
       where n <= ${indexedTo} and env = :env and (scope, key) > (:scope, :key) and scope < :end
      union all
      select scope, key, n from claims
       where n > ${indexedTo} and env = :env and (scope, key) > (:scope, :key) and scope < :end
      order by scope, key limit :limit)
    select ${claimColumns} from claims where n in (select n from found) order by scope, key`,
  claimsOfScope: `
    with found (key, n) as (
      select key, n from claim_keys where n <= ${indexedTo} and env = :env and scope = :scope and key > :key
      union all
      select key, n from claims where n > ${indexedTo} and env = :env and scope = :scope and key > :key
      order by key limit :limit)
    select ${claimColumns} from claims where n in (select n from found) order by key`,
  // One probe for each path: "select distinct" walks every wait of the name, 11 ms at 100,000 of them.
  waitPaths: `
    with recursive
      awaited (path) as (
        select min(path) from waits indexed by waits_by_event where env = :env and event_name = :name
        union all
        select (select min(path) from waits indexed by waits_by_event
                 where env = :env and event_name = :name and path > awaited.path)
          from awaited where awaited.path is not null),
      cancelling (path) as (
        select min(path) from cancels indexed by cancels_by_event where env = :env and event_name = :name
        union all
        select (select min(path) from cancels indexed by cancels_by_event
                 where env = :env and event_name = :name and path > cancelling.path)
          from cancelling where cancelling.path is not null)
    select path from awaited where path is not null
    union select path from cancelling where path is not null
    order by path`,
  openCounts: `
    select fn, sum(leased_by is not null) as running, sum(leased_by is null and due_at is null) as queued,
           sum(leased_by is null and due_at is not null and parked_at is null) as waiting,
           sum(leased_by is null and parked_at is not null) as parked,
           sum(leased_by is null and (due_at is null or due_at <= ?)) as due,
           sum(case when leased_by is null then 0 else beside_1 end) as beside1,
           sum(case when leased_by is null then 0 else beside_2 end) as beside2
      from jobs where env = ? and kind = 'run' group by fn`,
  // Each part has its index; asked together the planner takes none.
  oldestDue: `
    select min(at) as at from (
      select (select rank from jobs indexed by jobs_ready
               where env = :env and leased_by is null and due_at is null and lane is null and kind = 'run' order by rank limit 1) as at
      union all
      select (select min(rank) from jobs indexed by jobs_lanes
               where env = :env and leased_by is null and due_at is null and lane is not null)
      union all
      select (select due_at from jobs
               where env = :env and leased_by is null and due_at is not null and due_at <= :now and kind = 'run'
               order by due_at limit 1))`,
  pendingCounts: `
    select kind, count(*) as count
      from (select kind from kept_decisions indexed by decisions_pending
             where env = ? and run_id is null and kind in (${pendingSql}) limit ${pendingCountedMax})
     group by kind`,
  // Found by its id: the steps of each run are gone through once.
  lastOutcomes: `
    select s.run_id as "runId", s.name as step, substr(s.json, 1, ${previewChars}) as preview
      from json_each(:ids) i cross join steps s on s.env = :env and s.run_id = i.value
       and s.step_id = (select l.step_id from steps l
                         where l.env = :env and l.run_id = i.value and l.outcome = 'value' and l.json <> 'null'
                           and l.kind in ('${makingKinds.join("', '")}')
                         order by l.stamp desc limit 1)`,
  boundedEvents: `
    select ${boundedEventColumns} from events e where e.env = ? and e.id in (select value from json_each(?))`,
};
