// The hot path: outcomes of many runs, one statement, no other round trip. Each is recorded only while its job is still its worker's;
// the job is locked meanwhile, or a worker that takes the run over could read a memo that this outcome is not yet in (docs/reference/stores.md#saves-and-takeovers).
// "coalesce": a job is found by its id, never by all that its worker holds or has held.
import { runLogBytesMax } from "../../model/log-line.ts";
import type { Advanced, AdvanceInput } from "../advance.ts";
import { advanced } from "../rules/advance-run.ts";
import type { Connection } from "./connection.ts";
import { type ClockBounds, readNowSql } from "./database-clock.ts";
import { logColumns } from "./save-log.ts";
import { compareTexts } from "./text.ts";

/** With a column for what each brings of its run's lines, where one of them does. */
const saveStepsSql = (logs: { readonly given: string; readonly columns: string; readonly kept: string }) => `
  with t as materialized (${readNowSql}),
  given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:jobs as text[]), cast(:runs as text[]),
                         cast(:fences as bigint[]), cast(:workers as text[]), cast(:steps as text[]), cast(:names as text[]),
                         cast(:repeats as int[]), cast(:kinds as text[]), cast(:outcomes as text[]), cast(:jsons as text[]),
                         cast(:attempts as int[]), cast(:starts as bigint[]), cast(:ends as bigint[]), cast(:stamps as bigint[]),
                         cast(:inputs as text[])${logs.given})
      as g (n, env, job_id, run_id, fence, worker, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, input${logs.columns})),
  held as materialized (
    select given.n from t, given, lateral (
      select 1 from jobs j
       where j.env = given.env and j.id = given.job_id and j.fence = given.fence
         and coalesce(j.leased_by, '') = given.worker
         and j.lost_workers = 0
         for no key update) as job),
  saved as (
    insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                       input)
    select env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker, input
      from given where n in (select n from held)
    on conflict (env, run_id, step_id) do nothing
    returning env, run_id, step_id)${logs.kept}
  select given.n, t.now from t, given join saved using (env, run_id, step_id)`;

const plainSql = saveStepsSql({ given: "", columns: "", kept: "" });
// Lines that the run has already count nothing. Of several outcomes of one run, each is kept if those before it leave room: how much there is
// can only be read from a row that is locked, for another commit may have brought lines since this statement began.
const loggedSql = saveStepsSql({
  given: ", cast(:parts as text[]), cast(:lines as text[]), cast(:bytes as bigint[])",
  columns: ", part, lines, bytes",
  kept: `,
  brought as materialized (
    select distinct on (env, run_id, part) n, env, run_id, part, lines, bytes
      from given join saved using (env, run_id, step_id)
     where lines is not null
       and not exists (select 1 from run_logs l
                        where l.env = given.env and l.run_id = given.run_id and l.part = given.part offset 0)
     order by env, run_id, part, n),
  full_to as materialized (
    select total.env, total.run_id, total.bytes, run.log_bytes
      from (select env, run_id, cast(sum(bytes) as bigint) as bytes from brought group by env, run_id order by run_id, env) total,
      lateral (
        select r.log_bytes from runs r where r.env = total.env and r.id = total.run_id for no key update) as run),
  counted as (
    update runs set log_bytes = least(full_to.log_bytes + full_to.bytes, ${runLogBytesMax + 1})
      from full_to where runs.env = full_to.env and runs.id = full_to.run_id and full_to.log_bytes <= ${runLogBytesMax}),
  logged as (
    insert into run_logs (env, run_id, part, lines)
    select env, run_id, part, lines
      from (select brought.*, sum(bytes) over (partition by env, run_id order by n) as bytes_to from brought) as each
      join full_to using (env, run_id) where full_to.log_bytes + each.bytes_to <= ${runLogBytesMax}
    on conflict (env, run_id, part) do nothing)`,
});

/** Null for each that has to be looked at alone: the job is another's, or lost a worker, or the step has an outcome already. */
export async function saveSteps(
  connection: Connection,
  inputs: readonly AdvanceInput[],
  bounds: ClockBounds,
  stamp: () => number,
): Promise<{ readonly now: number | null; readonly answers: readonly (Advanced | null)[] }> {
  // Of two that bring an outcome of the same step the first one counts; the other must be told which.
  const steps = new Set<string>();
  const given = inputs
    .map((input, n) => ({ input, n, step: input.steps[0]!, stamp: stamp() }))
    .filter(({ input, step }) => {
      const name = JSON.stringify([input.env, input.runId, step.stepId]);
      return !steps.has(name) && steps.add(name);
    });
  // In the one order in which everybody locks jobs.
  given.sort((a, b) => compareTexts(a.input.jobId, b.input.jobId) || compareTexts(a.input.env, b.input.env));
  const hasLogs = given.some(({ input }) => input.log != null);
  const rows = await connection.find<{ n: number; now: number }>(hasLogs ? loggedSql : plainSql, {
    ...bounds,
    ...(hasLogs ? logColumns(given) : {}),
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    jobs: given.map(({ input }) => input.jobId),
    runs: given.map(({ input }) => input.runId),
    fences: given.map(({ input }) => input.fence),
    workers: given.map(({ input }) => input.worker),
    steps: given.map(({ step }) => step.stepId),
    names: given.map(({ step }) => step.name),
    repeats: given.map(({ step }) => step.repeat),
    kinds: given.map(({ step }) => step.kind),
    outcomes: given.map(({ step }) => step.outcome.kind),
    jsons: given.map(({ step }) => step.outcome.json),
    attempts: given.map(({ step }) => step.attempt),
    starts: given.map(({ step }) => step.startedAt),
    ends: given.map(({ step }) => step.endedAt),
    stamps: given.map((each) => each.stamp),
    inputs: given.map(({ step }) => step.input ?? null),
  });
  const saved = new Set(rows.map(({ n }) => n));
  const now = rows[0]?.now ?? null;
  return {
    now,
    answers: inputs.map(({ seen, steps: [step] }, n) =>
      saved.has(n) ? advanced(now!, seen, true, { outcomes: [step!.outcome] }) : null,
    ),
  };
}
