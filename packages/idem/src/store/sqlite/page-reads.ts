// 10,000 rows take 2 to 6 ms to be looked at, and commits wait meanwhile.
import { decisionColumns, openStateSql, pendingSql, summaryColumns } from "../rows.ts";
import { decisionFits, runFits, sortBy, sortedFits } from "../rules/page-reads.ts";
import type { Statements } from "../rules/statements.ts";

const withJob = "left join jobs j on j.env = r.env and j.id = r.id";

// Ids first: what people see of 10,000 rows is a hundred.
const sorted = (places: string) => `
    select ${summaryColumns} from (
      select r.env, r.id, ${sortBy} as place from ${places} and ${sortedFits}
       order by 3 desc, 2 desc limit :limit) s
      join runs r on r.env = s.env and r.id = s.id ${withJob}
     order by s.place desc, s.id desc`;

export const pages: Statements["pages"] = {
  runs: `
    select ${summaryColumns} from runs r ${withJob}
     where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}
     order by r.id desc limit :limit`,
  runsOfFunction: `
    select ${summaryColumns} from runs r indexed by runs_by_function ${withJob}
     where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}
     order by r.id desc limit :limit`,
  runsOfFunctionFloor: `
    select id from runs indexed by runs_by_function
     where env = :env and fn = :fn and id >= :low and id < :before order by id desc limit 1 offset :skip`,
  // Open runs are few and have a job each; the queue finds them without reading history.
  openRuns: `
    select ${summaryColumns} from jobs j join runs r on r.env = j.env and r.id = j.id
     where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
       and (cast(:state as text) is null or :state = ${openStateSql})
     order by j.id desc limit :limit`,
  runsOfEvent: `
    with started as (select run_id from decisions where env = :env and event_id = :event and kind = 'started'),
         every as (select run_id from started
                   union all
                   select r.id from started s cross join runs r indexed by runs_by_root on r.root_run_id = s.run_id
                    where r.env = :env and r.rerun_of is not null)
    select ${summaryColumns} from every cross join runs r on r.env = :env and r.id = every.run_id ${withJob}
     where r.id < :before and ${runFits} and (cast(:open as integer) is null or r.ended_state is null)
       and (cast(:state as text) is null or r.ended_state is null and :state = ${openStateSql})
     order by r.id desc limit :limit`,
  sortedRuns: sorted(`runs r where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}`),
  sortedRunsOfFunction: sorted(
    `runs r indexed by runs_by_function
      where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}`,
  ),
  sortedOpenRuns: sorted(
    `jobs j join runs r on r.env = j.env and r.id = j.id
      where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
        and (cast(:state as text) is null or :state = ${openStateSql})`,
  ),
  decisions: `
    select ${decisionColumns}
      from decisions d
     where d.env = :env and (d.event_id, d.fn) >= (:floor, :floorFn) and (d.event_id, d.fn) < (:before, :beforeFn)
       and ${decisionFits}
       and (:kinds is null or d.kind in (select value from json_each(:kinds)))
     order by d.event_id desc, d.fn desc limit :limit`,
  // Pending decisions are few, and have an index of their own: no floor is needed.
  pending: `
    select ${decisionColumns}
      from kept_decisions d indexed by decisions_pending
     where d.env = :env and d.run_id is null and d.kind in (${pendingSql})
       and (d.event_id, d.fn) < (:before, :beforeFn)
       and ${decisionFits}
       and (:kinds is null or d.kind in (select value from json_each(:kinds)))
     order by d.event_id desc, d.fn desc limit :limit`,
  oldestPending: `
    select ${decisionColumns}
      from kept_decisions d indexed by decisions_pending
     where d.env = :env and d.run_id is null and d.kind in (${pendingSql})
       and ${decisionFits}
       and (:kinds is null or d.kind in (select value from json_each(:kinds)))
     order by d.event_id, d.fn limit :limit`,
};
