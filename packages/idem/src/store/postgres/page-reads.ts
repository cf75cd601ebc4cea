// The limits keep the planner from joining whole tables: it cannot know that a page is small (docs/reference/stores.md#plans).
import { decisionColumns, jobOfRunColumns, openStateSql, pendingSql, summaryColumns } from "../rows.ts";
import { decisionFits, runFits, sortBy, sortedFits } from "../rules/page-reads.ts";
import type { Statements } from "../rules/statements.ts";

const withJob = `left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true`;
const fits = `${decisionFits} and (cast(:kinds as text[]) is null or d.kind = any(:kinds))`;

// Ids first: what people see of 10,000 rows is a hundred.
const sorted = (places: string) => `
    select ${summaryColumns} from (
      select r.env, r.id, ${sortBy} as place from ${places} and ${sortedFits}
       order by 3 desc, 2 desc limit :limit) s
      join lateral (select * from runs where env = s.env and id = s.id limit 1) r on true ${withJob}
     order by s.place desc, s.id desc`;

export const pages: Statements["pages"] = {
  runs: `
    select ${summaryColumns} from runs r ${withJob}
     where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}
     order by r.id desc limit :limit`,
  runsOfFunction: `
    select ${summaryColumns} from runs r ${withJob}
     where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}
     order by r.id desc limit :limit`,
  runsOfFunctionFloor: `
    select id from runs
     where env = :env and fn = :fn and id >= :low and id < :before order by id desc limit 1 offset :skip`,
  // Open runs are few and have a job each; the queue finds them without reading history.
  openRuns: `
    select ${summaryColumns}
      from jobs j join lateral (select * from runs where env = j.env and id = j.id limit 1) r on true
     where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
       and (cast(:state as text) is null or :state = ${openStateSql})
     order by j.id desc limit :limit`,
  runsOfEvent: `
    with started as (select run_id from decisions where env = :env and event_id = :event and kind = 'started'),
         every as (select run_id from started
                   union all
                   select r.id from started s cross join lateral (
                     select id from runs where env = :env and root_run_id = s.run_id and rerun_of is not null offset 0) r)
    select ${summaryColumns} from every join runs r on r.env = :env and r.id = every.run_id ${withJob}
     where r.id < :before and ${runFits} and (cast(:open as integer) is null or r.ended_state is null)
       and (cast(:state as text) is null or r.ended_state is null and :state = ${openStateSql})
     order by r.id desc limit :limit`,
  sortedRuns: sorted(`runs r where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}`),
  sortedRunsOfFunction: sorted(
    `runs r where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}`,
  ),
  sortedOpenRuns: sorted(
    `jobs j join lateral (select * from runs where env = j.env and id = j.id limit 1) r on true
      where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
        and (cast(:state as text) is null or :state = ${openStateSql})`,
  ),
  decisions: `
    select ${decisionColumns} from decisions d
     where d.env = :env and (d.event_id, d.fn) >= (:floor, :floorFn) and (d.event_id, d.fn) < (:before, :beforeFn)
       and ${fits}
     order by d.event_id desc, d.fn desc limit :limit`,
  // What is pending is little, and has an index of its own: no floor is needed.
  pending: `
    select ${decisionColumns} from decisions d
     where d.env = :env and d.run_id is null and d.kind in (${pendingSql})
       and (d.event_id, d.fn) < (:before, :beforeFn) and ${fits}
     order by d.event_id desc, d.fn desc limit :limit`,
  oldestPending: `
    select ${decisionColumns} from decisions d
     where d.env = :env and d.run_id is null and d.kind in (${pendingSql}) and ${fits}
     order by d.event_id, d.fn limit :limit`,
};
