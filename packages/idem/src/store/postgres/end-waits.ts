// Many waits end at once: whoever deletes a wait's row records its outcome, as for one (rules/end-wait.ts). Who calls this holds the jobs of
// the runs that waited.
import type { Outcome } from "../../model/step.ts";
import { standIns } from "../../model/wait.ts";
import type { WokenRun } from "../advance.ts";
import type { WaitRow } from "../rows.ts";
import { compareTexts } from "./text.ts";
import type { Transaction } from "./transaction.ts";

export interface EndedWait {
  readonly env: string;
  readonly wait: Pick<WaitRow, "run_id" | "step_id">;
  readonly outcome: Outcome;
}

// The stamps of one run's outcomes grow in the order given, and are later than every stamp the run has: whoever looked up to one of them
// must find these new, whichever node they come from.
const endWaits = (wake: string) => `
  with given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:runs as text[]), cast(:steps as text[]),
                         cast(:outcomes as text[]), cast(:jsons as text[]), cast(:stamps as bigint[]))
      as g (n, env, run_id, step_id, outcome, json, stamp)),
  gone as (
    delete from waits w using given
     where w.env = given.env and w.run_id = given.run_id and w.step_id = given.step_id
       and w.env = any(cast(:envs as text[])) and w.run_id = any(cast(:runs as text[]))
    returning given.n, given.env, given.run_id, given.step_id, w.name, w.repeat, w.step_kind, given.outcome, given.json,
              w.started_at, given.stamp, w.input, w.child_run_id),
  recorded as (
    insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                       input, child_run_id)
    select env, run_id, step_id, name, repeat, step_kind, outcome, json, 1, started_at, cast(:now as bigint),
           greatest(stamp, coalesce((select max(s.stamp) from steps s where s.env = gone.env and s.run_id = gone.run_id), 0)
                           + row_number() over (partition by env, run_id order by n)),
           null, input, case when child_run_id like '${standIns}%' then null else child_run_id end
      from gone order by n
    on conflict (env, run_id, step_id) do nothing)${wake}
  select n from gone`;

const endSql = endWaits("");
// A leased job keeps its lease: its worker collects the news. An unleased one is due at once, unless a person is to let it go on.
const endAndWakeSql = endWaits(`,
  woken as (
    update jobs j set due_at = null, rank = :now
      from (select distinct env, run_id from gone) w
     where j.env = w.env and j.id = w.run_id and j.leased_by is null and j.parked_at is null
       and j.env = any(cast(:envs as text[])) and j.id = any(cast(:runs as text[])))`);

const lockJobsSql = `
  select asked.env, asked.id, job.fn, job.leased_by
    from unnest(cast(:envs as text[]), cast(:ids as text[])) as asked (env, id)
   cross join lateral (select fn, leased_by from jobs j where j.env = asked.env and j.id = asked.id for update) job`;

const nameOf = (env: string, id: string): string => JSON.stringify([env, id]);

/** Which of them were there: by their places in what was given. */
export async function endWaitsOf(
  tx: Transaction,
  given: readonly EndedWait[],
  isWaking = false,
): Promise<ReadonlySet<number>> {
  if (given.length === 0) return new Set();
  const rows = await tx.connection.find<{ n: number }>(isWaking ? endAndWakeSql : endSql, {
    now: tx.at.now,
    ns: given.map((_, n) => n),
    envs: given.map(({ env }) => env),
    runs: given.map(({ wait }) => wait.run_id),
    steps: given.map(({ wait }) => wait.step_id),
    outcomes: given.map(({ outcome }) => outcome.kind),
    jsons: given.map(({ outcome }) => outcome.json),
    stamps: given.map(() => tx.stamp()),
  });
  return new Set(rows.map(({ n }) => n));
}

/** Locks the jobs of the runs that wait, ends the waits and wakes the runs. Answers for each the run it woke, or null. */
export async function endWaitsAndWake(
  tx: Transaction,
  given: readonly EndedWait[],
): Promise<readonly (WokenRun | null)[]> {
  if (given.length === 0) return [];
  const runs = new Map(given.map(({ env, wait }) => [nameOf(env, wait.run_id), { env, id: wait.run_id }]));
  // In the one order in which everybody locks jobs.
  const inOrder = [...runs.values()].sort((a, b) => compareTexts(a.id, b.id) || compareTexts(a.env, b.env));
  const [locked, ended] = await Promise.all([
    tx.connection.find<{ env: string; id: string; fn: string; leased_by: string | null }>(lockJobsSql, {
      envs: inOrder.map(({ env }) => env),
      ids: inOrder.map(({ id }) => id),
    }),
    endWaitsOf(tx, given, true),
  ]);
  const jobs = new Map(locked.map((job) => [nameOf(job.env, job.id), job]));
  return given.map(({ env, wait }, n) => {
    const job = jobs.get(nameOf(env, wait.run_id));
    return job === undefined || !ended.has(n) ? null : { runId: job.id, fn: job.fn, leasedBy: job.leased_by };
  });
}
