// Many runs that begin to wait for a time or an event and give their lease back, in one transaction: locked by one statement, and by a second
// one, which sees what was committed before the locks were had, given back. A wait whose time is over already is recorded instead, and its
// run goes on. Those that something else is to be done for (news that nobody collected, a worker lost before) are left to the code that
// knows every case.
import type { Step } from "../../model/step.ts";
import type { NewWait } from "../../model/wait.ts";
import type { Advanced, AdvanceInput, SuspendRun } from "../advance.ts";
import type { Ingested } from "../ingest.ts";
import { advanced, neverDue } from "../rules/advance-run.ts";
import { hasSlots } from "./lane-slots.ts";
import { compareTexts } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

type PlainWait = Extract<NewWait, { kind: "time" | "event" }>;

/** One of the calls that go together, and its place among them. */
export interface Waiting {
  readonly n: number;
  readonly input: AdvanceInput;
  readonly wait: NewWait;
  /** The run that is waited for. */
  readonly childRunId: string | null;
}

/** "coalesce": a job is found by its id, never by all that its worker holds or has held. */
const lockJobsSql = `
  select given.n from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:jobs as text[]), cast(:fences as bigint[]),
                             cast(:workers as text[])) as given (n, env, job_id, fence, worker),
    lateral (
      select 1 from jobs j
       where j.env = given.env and j.id = given.job_id and j.fence = given.fence
         and coalesce(j.leased_by, '') = given.worker and j.lost_workers = 0
         for update) as job`;

/** Of `given`: nothing has happened to the run that its worker does not know of. */
const isQuiet = `
  not exists (select 1 from steps s where s.env = given.env and s.run_id = given.run_id
                 and (s.step_id = given.step_id or (s.worker is null and s.stamp > given.seen)) offset 0)
  and not exists (select 1 from waits w where w.env = given.env and w.run_id = given.run_id
                     and (w.step_id = given.step_id or w.timeout_at <= :now) offset 0)`;

const quietSql = `
  select n from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:runs as text[]), cast(:seens as bigint[]),
                       cast(:steps as text[])) as given (n, env, run_id, seen, step_id)
   where ${isQuiet}`;

const suspendSql = `
  with given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:jobs as text[]), cast(:runs as text[]),
                         cast(:seens as bigint[]), cast(:dues as bigint[]), cast(:steps as text[]), cast(:kinds as text[]),
                         cast(:stepKinds as text[]), cast(:names as text[]), cast(:repeats as int[]), cast(:timeouts as bigint[]),
                         cast(:outcomes as text[]), cast(:jsons as text[]), cast(:eventNames as text[]), cast(:paths as text[]),
                         cast(:values as text[]), cast(:rests as text[]), cast(:children as text[]), cast(:stamps as bigint[]),
                         cast(:inputs as text[]))
      as g (n, env, job_id, run_id, seen, due_at, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout,
            on_timeout_json, event_name, path, value, rest, child_run_id, stamp, input)),
  quiet as materialized (select given.* from given where ${isQuiet}),
  begun as (
    insert into waits (env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
                       event_name, path, value, rest, signal, child_run_id, stamp, started_at, input)
    select env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
           event_name, path, value, rest, null, child_run_id, stamp, cast(:now as bigint), input from quiet)
  update jobs j
     set leased_by = null, had_waits = 1,
         due_at = least(quiet.due_at, quiet.timeout_at,
                        (select min(w.timeout_at) from waits w where w.env = quiet.env and w.run_id = quiet.run_id))
    from quiet
   where j.env = quiet.env and j.id = quiet.job_id
     and j.env = any(cast(:envs as text[])) and j.id = any(cast(:jobs as text[]))
  returning quiet.n, j.lane`;

// Later than every stamp the run has, as by whoever else records a wait's outcome.
const recordSql = `
  insert into steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker,
                     input, child_run_id)
  select env, run_id, step_id, name, repeat, step_kind, outcome, json, 1, cast(:now as bigint), cast(:now as bigint),
         greatest(stamp, coalesce((select max(s.stamp) + 1 from steps s where s.env = given.env and s.run_id = given.run_id), 0)),
         null, input, null
    from unnest(cast(:envs as text[]), cast(:runs as text[]), cast(:seens as bigint[]), cast(:steps as text[]),
                cast(:stepKinds as text[]), cast(:names as text[]), cast(:repeats as int[]), cast(:outcomes as text[]),
                cast(:jsons as text[]), cast(:stamps as bigint[]), cast(:inputs as text[]))
      as given (env, run_id, seen, step_id, step_kind, name, repeat, outcome, json, stamp, input)
   where ${isQuiet}
  on conflict (env, run_id, step_id) do nothing
  returning env, run_id, stamp`;

/** The one wait of a call that begins one, gives its lease back and does nothing else but what it sends; null for anything more. */
export function soleWait({ steps, asNews, attempts, waits, next, log }: AdvanceInput): NewWait | null {
  const [wait] = waits;
  const isSole =
    wait !== undefined &&
    waits.length === 1 &&
    steps.length === 0 &&
    asNews === undefined &&
    attempts.length === 0 &&
    log == null &&
    next.kind === "suspend" &&
    next.enterAt === undefined;
  return isSole ? wait : null;
}

/** One wait for a time or an event to begin, and nothing else to do; null for anything more. */
export function onlyWait(input: AdvanceInput): PlainWait | null {
  const wait = input.ingest === null ? soleWait(input) : null;
  return wait !== null && (wait.kind === "time" || wait.kind === "event") ? wait : null;
}

/** Null for each that has to be looked at alone. */
export async function suspendRuns(
  tx: Transaction,
  inputs: readonly AdvanceInput[],
): Promise<readonly (Advanced | null)[]> {
  const given = inJobOrder(inputs.map((input, n) => ({ input, n, wait: onlyWait(input)!, childRunId: null })));
  const held = await lockHeld(tx, given);
  const { now } = tx.at;
  const isOver = ({ wait }: Waiting) => wait.timeoutAt !== null && wait.timeoutAt <= now;
  const [suspended, recorded] = await Promise.all([
    giveBack(
      tx,
      held.filter((each) => !isOver(each)),
    ),
    // What it holds beside its slot is looked at alone.
    recordOver(
      tx,
      held.filter((each) => isOver(each) && each.input.beside === undefined),
    ),
  ]);
  return inputs.map((input, n) => {
    const lane = suspended.get(n);
    return lane === undefined ? (recorded.get(n) ?? null) : gaveBack(input, now, hasSlots(lane), null);
  });
}

/** In the one order in which everybody locks jobs; of two calls for one job only the first. */
export function inJobOrder<W extends Pick<Waiting, "input">>(given: readonly W[]): readonly W[] {
  const byJob = new Map<string, W>();
  for (const each of given) {
    const name = inEnv(each.input.env, each.input.jobId);
    if (!byJob.has(name)) byJob.set(name, each);
  }
  return [...byJob.values()].sort(
    (a, b) => compareTexts(a.input.jobId, b.input.jobId) || compareTexts(a.input.env, b.input.env),
  );
}

/** Those whose jobs are still their workers'. */
export async function lockHeld<W extends Waiting>(tx: Transaction, given: readonly W[]): Promise<readonly W[]> {
  const locked = await tx.connection.find<{ n: number }>(lockJobsSql, {
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    jobs: given.map(({ input }) => input.jobId),
    fences: given.map(({ input }) => input.fence),
    workers: given.map(({ input }) => input.worker),
  });
  return among(given, locked);
}

/** Those to which nothing has happened that their workers do not know of. */
export async function onlyQuiet<W extends Waiting>(tx: Transaction, given: readonly W[]): Promise<readonly W[]> {
  const quiet = await tx.connection.find<{ n: number }>(quietSql, {
    now: tx.at.now,
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    runs: given.map(({ input }) => input.runId),
    seens: given.map(({ input }) => input.seen),
    steps: given.map(({ wait }) => wait.stepId),
  });
  return among(given, quiet);
}

function among<W extends Waiting>(given: readonly W[], rows: readonly { readonly n: number }[]): readonly W[] {
  const found = new Set(rows.map(({ n }) => n));
  return given.filter(({ n }) => found.has(n));
}

/** Begins the waits and gives the leases back, of those that are quiet; answers the lane of each by its place. */
export async function giveBack(tx: Transaction, held: readonly Waiting[]): Promise<ReadonlyMap<number, string | null>> {
  if (held.length === 0) return new Map();
  const stamps = held.map(() => tx.stamp());
  tx.watch(
    held.flatMap(({ input, wait }, i) =>
      wait.kind === "event" ? [{ env: input.env, name: wait.eventName, stamp: stamps[i]! }] : [],
    ),
  );
  const rows = await tx.connection.find<{ n: number; lane: string | null }>(suspendSql, {
    now: tx.at.now,
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
    children: held.map(({ childRunId }) => childRunId),
    stamps,
    inputs: held.map(({ wait }) => wait.input ?? null),
  });
  tx.keepStamps();
  return new Map(rows.map(({ n, lane }) => [n, lane]));
}

/** The outcomes of waits whose time is over before they begin; their runs keep their leases, and have news. */
async function recordOver(tx: Transaction, held: readonly Waiting[]): Promise<ReadonlyMap<number, Advanced>> {
  if (held.length === 0) return new Map();
  const rows = await tx.connection.find<{ env: string; run_id: string; stamp: number }>(recordSql, {
    now: tx.at.now,
    envs: held.map(({ input }) => input.env),
    runs: held.map(({ input }) => input.runId),
    seens: held.map(({ input }) => input.seen),
    steps: held.map(({ wait }) => wait.stepId),
    stepKinds: held.map(({ wait }) => wait.stepKind),
    names: held.map(({ wait }) => wait.name),
    repeats: held.map(({ wait }) => wait.repeat),
    outcomes: held.map(({ wait }) => wait.onTimeout.kind),
    jsons: held.map(({ wait }) => wait.onTimeout.json),
    stamps: held.map(() => tx.stamp()),
    inputs: held.map(({ wait }) => wait.input ?? null),
  });
  const stamps = new Map(rows.map(({ env, run_id, stamp }) => [inEnv(env, run_id), stamp]));
  const answers = new Map<number, Advanced>();
  for (const { n, input, wait } of held) {
    const stamp = stamps.get(inEnv(input.env, input.runId));
    if (stamp !== undefined) answers.set(n, wentOn(wait, tx.at.now, stamp));
  }
  return answers;
}

export const gaveBack = ({ seen }: AdvanceInput, now: number, freed: boolean, ingested: Ingested | null): Advanced =>
  advanced(now, seen, false, { stamps: [], freed, ingested });

function wentOn(wait: NewWait, now: number, stamp: number): Advanced {
  const step: Step = {
    stepId: wait.stepId,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.stepKind,
    outcome: wait.onTimeout,
    attempt: 1,
    startedAt: now,
    endedAt: now,
    stamp,
    worker: null,
  };
  return advanced(now, stamp, true, { stamps: [], news: [step] });
}
