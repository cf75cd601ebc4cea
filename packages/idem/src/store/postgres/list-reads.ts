// PostgreSQL's own statements of rules/reads.ts.
import { pendingCountedMax, previewChars } from "../reads.ts";
import {
  boundedEventColumns,
  decisionColumns,
  eventColumns,
  jobOfRunColumns,
  pendingSql,
  runColumns,
} from "../rows.ts";
import type { Statements } from "../rules/statements.ts";
import { makingKinds } from "../steps.ts";

// The limits inside joins keep the planner from joining whole tables: it cannot know that a page is small (docs/reference/stores.md#plans).
const withJob = `left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true`;
// A function key whose run has ended is settled; the claim itself is not written again for that (end-run.ts). A row that nobody
// asked for only keeps others waiting (claim-key.ts).
export const selectClaims = `
  select c.scope, c.key, c.holder, c.fence, c.generation,
         case when c.state = 'in-flight' and ended.is_ended then 'settled' else c.state end as state,
         c.fingerprint, c.taken_at, c.lease_until, c.ends_at, c.held, c.asked, c.last_asked_at, c.outcome
    from claims c
    left join lateral (select ended_state is not null as is_ended from runs where env = c.env and id = c.holder limit 1) ended
      on true`;

export const lists: Statements["lists"] = {
  runs: `select ${runColumns} from runs r ${withJob} where r.env = ? and r.id < ? order by r.id desc limit ?`,
  runsOfFunction: `
    select ${runColumns} from runs r ${withJob}
     where r.env = ? and r.fn = ? and r.id < ? order by r.id desc limit ?`,
  // Open runs are few and have a job each; the queue finds them without reading history.
  openRuns: `
    select ${runColumns} from jobs j join lateral (select * from runs where env = j.env and id = j.id limit 1) r on true
     where j.env = ? and j.kind = 'run' and j.id < ? order by j.id desc limit ?`,
  runsOfEvent: `
    with started as (select run_id from decisions where env = ? and event_id = ? and kind = 'started'),
         every as (select run_id from started
                   union all
                   select r.id from started s cross join lateral (
                     select id from runs where env = ? and root_run_id = s.run_id and rerun_of is not null offset 0) r)
    select ${runColumns} from every join runs r on r.env = ? and r.id = every.run_id ${withJob}
     where r.id < ? order by r.id desc limit ?`,
  duplicates: `
    select ${eventColumns} from events e where e.env = ? and e.first_event_id = ? order by e.id limit ?`,
  duplicatesOfRun: `
    select ${decisionColumns}
      from decisions d where d.env = ? and d.run_id = ? and d.event_id > ? and d.kind <> 'started' order by d.event_id limit ?`,
  // Decisions of an event are as many as functions: the bound only makes the planner look them up.
  decisionsOfEvents: `
    select d.*
      from unnest(cast(:ids as text[])) i (id)
      cross join lateral (select ${decisionColumns} from decisions d
                           where d.env = :env and d.event_id = i.id order by d.fn limit 10000) d`,
  claims: `
    ${selectClaims}
     where c.env = :env and (c.scope, c.key) > (:scope, :key) and c.scope < :end and c.asked > 0
     order by c.scope, c.key limit :limit`,
  claimsOfScope: `
    ${selectClaims}
     where c.env = :env and c.scope = :scope and c.key > :key and c.asked > 0
     order by c.key limit :limit`,
  // One probe for each path: "select distinct" walks every wait of the name, 11 ms at 100,000 of them.
  waitPaths: `
    with recursive
      awaited (path) as (
        select min(path) from waits where env = :env and event_name = :name
        union all
        select (select min(path) from waits where env = :env and event_name = :name and path > awaited.path)
          from awaited where awaited.path is not null),
      cancelling (path) as (
        select min(path) from cancels where env = :env and event_name = :name
        union all
        select (select min(path) from cancels where env = :env and event_name = :name and path > cancelling.path)
          from cancelling where cancelling.path is not null)
    select path from awaited where path is not null
    union select path from cancelling where path is not null
    -- A system event that another transaction may be about to wait for (wait-checks.ts).
    union select '' from watched_names where env = :env and bucket = :name
    order by path`,
  openCounts: `
    select fn, count(*) filter (where leased_by is not null) as running,
           count(*) filter (where leased_by is null and due_at is null) as queued,
           count(*) filter (where leased_by is null and due_at is not null and parked_at is null) as waiting,
           count(*) filter (where leased_by is null and parked_at is not null) as parked,
           count(*) filter (where leased_by is null and (due_at is null or due_at <= ?)) as due,
           sum(case when leased_by is null then 0 else beside_1 end) as beside1,
           sum(case when leased_by is null then 0 else beside_2 end) as beside2
      from jobs where env = ? and kind = 'run' group by fn`,
  // Each part has its index; asked together the planner takes none. Null where there is nothing, which "least" passes over.
  oldestDue: `
    select least(
      (select rank from jobs
        where env = :env and leased_by is null and due_at is null and lane is null and kind = 'run' order by rank limit 1),
      (select min(rank) from jobs where env = :env and leased_by is null and due_at is null and lane is not null),
      (select due_at from jobs
        where env = :env and leased_by is null and due_at is not null and due_at <= :now and kind = 'run'
        order by due_at limit 1)) as at`,
  pendingCounts: `
    select kind, count(*) as count
      from (select kind from decisions
             where env = ? and run_id is null and kind in (${pendingSql})
             limit ${pendingCountedMax}) pending
     group by kind`,
  lastOutcomes: `
    select i.id as "runId", s.name as step, substr(s.json, 1, ${previewChars}) as preview
      from unnest(cast(:ids as text[])) i (id)
      join lateral (select name, json from steps
                     where env = :env and run_id = i.id and outcome = 'value' and json <> 'null'
                       and kind in ('${makingKinds.join("', '")}')
                     order by stamp desc limit 1) s on true`,
  boundedEvents: `
    select ${boundedEventColumns} from events e where e.env = ? and e.id = any(cast(? as text[]))`,
};
