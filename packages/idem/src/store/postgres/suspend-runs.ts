// Many runs that begin to wait for a time or an event and give their lease back, in one transaction: locked by one statement, and by a second
// one, which sees what was committed before the locks were had, given back. Those that something else is to be done for (a wait whose time
// is over already, news that nobody collected, a worker lost before) are left to the code that knows every case.
import type { NewWait } from "../../model/wait.ts";
import type { Advanced, AdvanceInput, SuspendRun } from "../advance.ts";
import { advanced, neverDue } from "../rules/advance-run.ts";
import { hasSlots } from "./lane-slots.ts";
import { compareTexts } from "./text.ts";
import type { Transaction } from "./transaction.ts";

type PlainWait = Extract<NewWait, { kind: "time" | "event" }>;

/** "coalesce": a job is found by its id, never by all that its worker holds or has held. */
const lockJobsSql = `
  select given.n from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:jobs as text[]), cast(:fences as bigint[]),
                             cast(:workers as text[])) as given (n, env, job_id, fence, worker),
    lateral (
      select 1 from jobs j
       where j.env = given.env and j.id = given.job_id and j.fence = given.fence
         and coalesce(j.leased_by, '') = given.worker and j.lost_workers = 0
         for update) as job`;

const suspendSql = `
  with given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:jobs as text[]), cast(:runs as text[]),
                         cast(:seens as bigint[]), cast(:dues as bigint[]), cast(:steps as text[]), cast(:kinds as text[]),
                         cast(:stepKinds as text[]), cast(:names as text[]), cast(:repeats as int[]), cast(:timeouts as bigint[]),
                         cast(:outcomes as text[]), cast(:jsons as text[]), cast(:eventNames as text[]), cast(:paths as text[]),
                         cast(:values as text[]), cast(:rests as text[]), cast(:stamps as bigint[]), cast(:inputs as text[]))
      as g (n, env, job_id, run_id, seen, due_at, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout,
            on_timeout_json, event_name, path, value, rest, stamp, input)),
  quiet as materialized (
    select given.* from given
     where not exists (select 1 from steps s where s.env = given.env and s.run_id = given.run_id
                          and (s.step_id = given.step_id or (s.worker is null and s.stamp > given.seen)) offset 0)
       and not exists (select 1 from waits w where w.env = given.env and w.run_id = given.run_id
                          and (w.step_id = given.step_id or w.timeout_at <= :now) offset 0)),
  begun as (
    insert into waits (env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
                       event_name, path, value, rest, signal, child_run_id, stamp, started_at, input)
    select env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
           event_name, path, value, rest, null, null, stamp, cast(:now as bigint), input from quiet)
  update jobs j
     set leased_by = null, had_waits = 1,
         due_at = least(quiet.due_at, quiet.timeout_at,
                        (select min(w.timeout_at) from waits w where w.env = quiet.env and w.run_id = quiet.run_id))
    from quiet
   where j.env = quiet.env and j.id = quiet.job_id
     and j.env = any(cast(:envs as text[])) and j.id = any(cast(:jobs as text[]))
  returning quiet.n, j.lane`;

/** One wait for a time or an event to begin, and nothing else to do; null for anything more. */
export function onlyWait({ steps, asNews, attempts, waits, ingest, next, log }: AdvanceInput): PlainWait | null {
  const [wait] = waits;
  const isOnly =
    wait !== undefined &&
    waits.length === 1 &&
    steps.length === 0 &&
    asNews === undefined &&
    attempts.length === 0 &&
    ingest === null &&
    log == null &&
    next.kind === "suspend" &&
    next.enterAt === undefined;
  return isOnly && (wait.kind === "time" || wait.kind === "event") ? wait : null;
}

/** Null for each that has to be looked at alone. */
export async function suspendRuns(
  tx: Transaction,
  inputs: readonly AdvanceInput[],
): Promise<readonly (Advanced | null)[]> {
  const { now } = tx.at;
  const jobs = new Set<string>();
  const given = inputs
    .map((input, n) => ({ input, n, wait: onlyWait(input)!, stamp: tx.stamp() }))
    .filter(({ input, wait }) => {
      const name = JSON.stringify([input.env, input.jobId]);
      return (wait.timeoutAt === null || wait.timeoutAt > now) && !jobs.has(name) && jobs.add(name);
    })
    // In the one order in which everybody locks jobs.
    .sort((a, b) => compareTexts(a.input.jobId, b.input.jobId) || compareTexts(a.input.env, b.input.env));
  const locked = await tx.connection.find<{ n: number }>(lockJobsSql, {
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    jobs: given.map(({ input }) => input.jobId),
    fences: given.map(({ input }) => input.fence),
    workers: given.map(({ input }) => input.worker),
  });
  const isHeld = new Set(locked.map(({ n }) => n));
  const held = given.filter(({ n }) => isHeld.has(n));
  const rows = await tx.connection.find<{ n: number; lane: string | null }>(suspendSql, {
    now,
    ns: held.map(({ n }) => n),
    envs: held.map(({ input }) => input.env),
    jobs: held.map(({ input }) => input.jobId),
    runs: held.map(({ input }) => input.runId),
    seens: held.map(({ input }) => input.seen),
    dues: held.map(({ input }) => (input.next as SuspendRun).dueAt ?? neverDue),
    steps: held.map(({ wait }) => wait.stepId),
    kinds: held.map(({ wait }) => wait.kind),
    stepKinds: held.map(({ wait }) => wait.stepKind),
    names: held.map(({ wait }) => wait.name),
    repeats: held.map(({ wait }) => wait.repeat),
    timeouts: held.map(({ wait }) => wait.timeoutAt),
    outcomes: held.map(({ wait }) => wait.onTimeout.kind),
    jsons: held.map(({ wait }) => wait.onTimeout.json),
    eventNames: held.map(({ wait }) => (wait.kind === "event" ? wait.eventName : null)),
    paths: held.map(({ wait }) => (wait.kind === "event" ? wait.path : null)),
    values: held.map(({ wait }) => (wait.kind === "event" ? tx.indexed(wait.value) : null)),
    rests: held.map(({ wait }) => (wait.kind === "event" ? wait.rest : null)),
    stamps: held.map(({ stamp }) => stamp),
    inputs: held.map(({ wait }) => wait.input ?? null),
  });
  tx.keepStamps();
  const suspended = new Map(rows.map(({ n, lane }) => [n, lane]));
  return inputs.map(({ seen }, n) => {
    const lane = suspended.get(n);
    return lane === undefined ? null : advanced(now, seen, false, { stamps: [], freed: hasSlots(lane) });
  });
}
