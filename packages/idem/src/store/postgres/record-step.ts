// A step's outcome, later than every stamp the run has: whoever looked up to one of them must find this one new, whichever node it comes from.
import type { NewStep } from "../advance.ts";
import { stepValues } from "../rules/record-step.ts";
import type { Connection } from "./connection.ts";

// The run's job is locked meanwhile.
const insertStepSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, input,
                     child_run_id, worker)
  select cast(? as text), cast(? as text), cast(? as text), cast(? as text), cast(? as int), cast(? as text),
         cast(? as text), cast(? as text), cast(? as int), cast(? as bigint), cast(? as bigint),
         greatest(cast(? as bigint), coalesce(max(stamp) + 1, 0)), cast(? as text),
         cast(? as text), cast(? as text)
    from steps where env = ? and run_id = ?
  on conflict (env, run_id, step_id) do nothing
  returning stamp`;

/** The run a step is of, who did it, and the run it waited for. */
interface StepOwner {
  readonly env: string;
  readonly runId: string;
  readonly worker: string | null;
  readonly childRunId: string | null;
}

/** Its stamp; null when it was recorded before. */
export async function insertStep(
  connection: Connection,
  stamp: number,
  { env, runId, worker, childRunId }: StepOwner,
  step: NewStep,
): Promise<number | null> {
  const values = [...stepValues(step, stamp), childRunId, worker, env, runId];
  const row = await connection.one<{ stamp: unknown }>(insertStepSql, env, runId, ...values);
  return row === undefined ? null : Number(row.stamp);
}
