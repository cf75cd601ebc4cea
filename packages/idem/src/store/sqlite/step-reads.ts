// What people ask about steps beyond what a memo holds. By run, so that each is a range of its table's own tree: at most as many rows as a
// run may have steps.
import { previewChars, type StoreReads } from "../reads.ts";
import { givenOf, type LastOutcome, makingKinds, type StepGiven } from "../steps.ts";
import type { Connection } from "./connection.ts";

const givenSql = `
  select found.step_id as stepId, case when octet_length(found.input) <= :max then found.input end as input,
         octet_length(found.input) as inputBytes, found.child_run_id as childRunId
    from (select 0 as place, stamp, step_id, input, null as child_run_id
            from attempts where env = :env and run_id = :run and input is not null
          union all
          select 1, stamp, step_id, input, child_run_id
            from waits where env = :env and run_id = :run and (input is not null or child_run_id is not null)
          union all
          select 2, stamp, step_id, input, child_run_id
            from steps where env = :env and run_id = :run and (input is not null or child_run_id is not null)) found
   order by found.place, found.stamp`;

const inputSql = `
  select found.input
    from (select 0 as place, attempt as n, input from attempts where env = :env and run_id = :run and step_id = :step
          union all
          select 1, 0, input from waits where env = :env and run_id = :run and step_id = :step
          union all
          select 2, 0, input from steps where env = :env and run_id = :run and step_id = :step) found
   order by found.place desc, found.n desc limit 1`;

// Found by its id: the steps of each run are gone through once.
const lastOutcomesSql = `
  select s.run_id as runId, s.name as step, substr(s.json, 1, ${previewChars}) as preview
    from json_each(:ids) i cross join steps s on s.env = :env and s.run_id = i.value
     and s.step_id = (select l.step_id from steps l
                       where l.env = :env and l.run_id = i.value and l.outcome = 'value' and l.json <> 'null'
                         and l.kind in ('${makingKinds.join("', '")}')
                       order by l.stamp desc limit 1)`;

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };
type StepReads = Sync<Pick<StoreReads, "stepInputs" | "stepInput" | "lastOutcomes">>;

export function stepReads(connection: Connection): StepReads {
  return {
    stepInputs: (env, runId, bytesMax) =>
      givenOf(connection.find<StepGiven>(givenSql, { env, run: runId, max: bytesMax })),
    stepInput: (env, runId, stepId) =>
      connection.find<{ input: string | null }>(inputSql, { env, run: runId, step: stepId })[0]?.input ?? null,
    lastOutcomes: (env, runIds) => connection.find<LastOutcome>(lastOutcomesSql, { env, ids: JSON.stringify(runIds) }),
  };
}
