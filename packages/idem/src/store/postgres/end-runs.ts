// The hot path: the ends of many runs, one statement, no other round trip. Only runs whose end concerns nobody else: that hold no key past
// its window, are awaited by no other run, and of whose end no event has to be stored. What they waited for goes with them, and their slots.
// Those that others wait for end by the same statement in a transaction of their own, which wakes whoever waits.

import { runLogBytesMax } from "../../model/log-line.ts";
import type { Outcome } from "../../model/step.ts";
import type { Advanced, AdvanceInput, EndRun, WokenRun } from "../advance.ts";
import { minuteMs } from "../ends.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import { advanced } from "../rules/advance-run.ts";
import { noteColumns } from "../rules/count-ends.ts";
import { answerOf, newWriting } from "../writing.ts";
import type { Connection } from "./connection.ts";
import { type ClockBounds, readNowSql } from "./database-clock.ts";
import { endWaitsAndWake } from "./end-waits.ts";
import { hasSlots } from "./lane-slots.ts";
import { logColumns } from "./save-log.ts";
import { inJobOrder } from "./suspend-runs.ts";
import type { Transaction } from "./transaction.ts";
import { bucketOf } from "./wait-checks.ts";

// "offset 0": or the planner reads all waits into a table of names, to look up one of them.
const isUnheard = (name: string, bucket: string) => `
  (${name} is null or (not exists (select 1 from waits w where w.env = given.env and w.event_name = ${name} offset 0)
                   and not exists (select 1 from cancels c where c.env = given.env and c.event_name = ${name} offset 0)
                   and not exists (select 1 from watched_names b where b.env = given.env and b.bucket = ${bucket} offset 0)))`;

// Says nothing new, and keeps the planner from reading all of a table that it believes to be empty.
const isOneOf = (table: string) => `
  ${table}.env = any(array(select env from open)) and ${table}.id = any(array(select id from open))`;

/** Of runs that ever waited: what they wait for, or are cancelled by. */
const forgottenSql = (table: string) => `
  delete from ${table} f using open
   where open.had_waits = 1 and f.env = open.env and f.run_id = open.id
     and f.env = any(array(select env from open)) and f.run_id = any(array(select id from open where had_waits = 1))`;

// "coalesce": a job is found by its id, never by all that its worker holds or has held. A run is locked before it is looked at: whoever began to wait for its end a moment ago has said so on its row.
// With a column for what each brings of its run's lines, where one of them does.
const endRunsSql = (now: string, isWanted: string, told: string, logs: Logs) => `
  with t as materialized (${now}),
  given as materialized (
    select * from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:ids as text[]), cast(:fences as bigint[]),
                         cast(:workers as text[]), cast(:states as text[]), cast(:results as text[]),
                         cast(:registrations as bigint[]), cast(:names1 as text[]), cast(:names2 as text[]),
                         cast(:buckets1 as text[]), cast(:buckets2 as text[])${logs.given})
      as g (n, env, id, fence, worker, state, result, registration, name_1, name_2, bucket_1, bucket_2${logs.columns})),
  quiet as materialized (
    select given.* from t, given
     where (registration is null or registration = coalesce(
             (select cast(value as bigint) from meta where name = 'registration:' || given.env), 0))
       and ${isUnheard("name_1", "bucket_1")} and ${isUnheard("name_2", "bucket_2")}),
  held as materialized (
    select quiet.*, job.had_waits, job.lane from quiet, lateral (
      select j.had_waits, j.lane from jobs j
       where j.env = quiet.env and j.id = quiet.id and j.fence = quiet.fence
         and coalesce(j.leased_by, '') = quiet.worker
         for update) as job),
  open as materialized (
    select held.* from held, lateral (
      select 1 from runs r
       where r.env = held.env and r.id = held.id and ${isWanted} for no key update) as run),
  gone as (
    delete from jobs j using open where j.env = open.env and j.id = open.id and ${isOneOf("j")}),
  waited as (${forgottenSql("waits")}),
  cancelling as (${forgottenSql("cancels")}),
  ended as (
    update runs r
       set ended_state = open.state, result = open.result, ended_at = greatest(t.now, r.created_at), ended_fence = open.fence${logs.counted}
      from t, open where r.env = open.env and r.id = open.id and ${isOneOf("r")}
    returning r.env, r.fn, r.ended_state, r.ended_at, r.created_at, r.started_at${logs.returned}),
  noted as (
    insert into end_notes (${noteColumns})
    select env, fn, ended_at / ${minuteMs} * ${minuteMs}, count(*) filter (where ended_state = 'completed'),
           count(*) filter (where ended_state = 'failed'), count(*) filter (where ended_state = 'cancelled'), min(created_at),
           coalesce(string_agg(cast(greatest(0, ended_at - started_at) as text), ' ') filter (where started_at is not null), '')
      from ended group by env, fn, ended_at)${logs.kept}
  select open.n, t.now, open.lane from t, open${told}`;

interface Logs {
  readonly given: string;
  readonly columns: string;
  readonly counted: string;
  readonly returned: string;
  readonly kept: string;
}

const withoutLogs: Logs = { given: "", columns: "", counted: "", returned: "", kept: "" };
const withLogs: Logs = {
  given: ", cast(:parts as text[]), cast(:lines as text[]), cast(:bytes as bigint[])",
  columns: ", part, lines, bytes",
  // Lines that the run has already count nothing.
  counted: `, log_bytes = case
         when open.lines is null
           or exists (select 1 from run_logs l where l.env = open.env and l.run_id = open.id and l.part = open.part)
         then r.log_bytes else least(r.log_bytes + open.bytes, ${runLogBytesMax + 1}) end`,
  returned: ", r.id, r.log_bytes",
  kept: `,
  logged as (
    insert into run_logs (env, run_id, part, lines)
    select open.env, open.id, open.part, open.lines
      from open join ended using (env, id) where open.lines is not null and ended.log_bytes <= ${runLogBytesMax}
    on conflict (env, run_id, part) do nothing)`,
};

const isFree = "r.ended_state is null and r.holds_key = 0 and r.singleton is null";
// No time for those that are left because somebody waits for them.
const awaitedToo = `
  union all
  select held.n, null, null from held, lateral (
    select 1 from runs r where r.env = held.env and r.id = held.id and r.awaited = 1 and ${isFree} offset 0) as run`;
const endAlone = (logs: Logs) => endRunsSql(readNowSql, `r.awaited = 0 and ${isFree}`, awaitedToo, logs);
const alone = { plain: endAlone(withoutLogs), logged: endAlone(withLogs) };
const endAwaitedToo = (logs: Logs) => endRunsSql("select cast(:now as bigint) as now", isFree, "", logs);
const together = { plain: endAwaitedToo(withoutLogs), logged: endAwaitedToo(withLogs) };

// In the order in which everybody locks runs.
const waitsForSql = `
  select asked.n, w.* from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:ids as text[])) as asked (n, env, id),
    lateral (select ${waitColumns}, stamp from waits where env = asked.env and child_run_id = asked.id offset 0) w
   order by w.run_id, w.stamp`;

/** Whether nothing but an end is asked, and only events that nobody may want come with it. */
export function isPlainEnd({ steps, attempts, waits, ingest, next }: AdvanceInput): boolean {
  return (
    next.kind === "end" &&
    !next.releaseKey &&
    steps.length === 0 &&
    attempts.length === 0 &&
    waits.length === 0 &&
    (ingest === null ||
      (ingest.pairs.length === 0 && ingest.events.length <= 2 && ingest.events.every((event) => event.ifAwaited)))
  );
}

const nameOf = ({ ingest }: AdvanceInput, n: number): string | null => ingest?.events[n]?.name ?? null;

type EndedRow = { readonly n: number; readonly now: number | null; readonly lane: string | null };

function endAll(
  connection: Connection,
  sql: typeof alone,
  inputs: readonly AdvanceInput[],
  times: Readonly<Record<string, number | null>>,
): Promise<EndedRow[]> {
  const given = inJobOrder(inputs.map((input, n) => ({ input, n, end: input.next as EndRun })));
  const hasLogs = given.some(({ input }) => input.log != null);
  return connection.find<EndedRow>(hasLogs ? sql.logged : sql.plain, {
    ...times,
    ...(hasLogs ? logColumns(given) : {}),
    ns: given.map(({ n }) => n),
    envs: given.map(({ input }) => input.env),
    ids: given.map(({ input }) => input.jobId),
    fences: given.map(({ input }) => input.fence),
    workers: given.map(({ input }) => input.worker),
    states: given.map(({ end }) => end.state),
    results: given.map(({ end }) => end.result),
    registrations: given.map(({ input }) => input.ingest?.registration ?? null),
    names1: given.map(({ input }) => nameOf(input, 0)),
    names2: given.map(({ input }) => nameOf(input, 1)),
    buckets1: given.map(({ input }) => bucketOf(nameOf(input, 0) ?? "")),
    buckets2: given.map(({ input }) => bucketOf(nameOf(input, 1) ?? "")),
  });
}

/** Null for each that has to be looked at alone; `awaited` are the places of those that only somebody waits for. */
export async function endRuns(
  connection: Connection,
  inputs: readonly AdvanceInput[],
  { wall, floor, ceiling }: ClockBounds,
): Promise<{
  readonly now: number | null;
  readonly answers: readonly (Advanced | null)[];
  readonly awaited: readonly number[];
}> {
  const rows = await endAll(connection, alone, inputs, { wall, floor, ceiling });
  const answers: (Advanced | null)[] = inputs.map(() => null);
  const awaited: number[] = [];
  let now: number | null = null;
  for (const row of rows) {
    if (row.now === null) awaited.push(row.n);
    else {
      now = row.now;
      answers[row.n] = wasEnded(inputs[row.n]!, row.now, hasSlots(row.lane), []);
    }
  }
  return { now, answers, awaited };
}

/** The same for runs that others may wait for. Their rows are locked by the end: whoever waits for one has said so, and is found. */
export async function endAwaitedRuns(
  tx: Transaction,
  inputs: readonly AdvanceInput[],
): Promise<readonly (Advanced | null)[]> {
  const rows = await endAll(tx.connection, together, inputs, { now: tx.at.now });
  const waits = await tx.connection.find<WaitRow & { n: number }>(waitsForSql, {
    ns: rows.map(({ n }) => n),
    envs: rows.map(({ n }) => inputs[n]!.env),
    ids: rows.map(({ n }) => inputs[n]!.runId),
  });
  const runs = await endWaitsAndWake(
    tx,
    waits.map((wait) => ({ env: inputs[wait.n]!.env, wait, outcome: outcomeOf(inputs[wait.n]!.next as EndRun) })),
  );
  const woken = inputs.map((): WokenRun[] => []);
  for (const [i, run] of runs.entries()) if (run !== null) woken[waits[i]!.n]!.push(run);
  const lanes = new Map(rows.map(({ n, lane }) => [n, lane]));
  return inputs.map((input, n) => {
    const lane = lanes.get(n);
    return lane === undefined ? null : wasEnded(input, tx.at.now, hasSlots(lane), woken[n]!);
  });
}

const outcomeOf = ({ state, result }: EndRun): Outcome => ({
  kind: state === "completed" ? "value" : "error",
  json: result,
});

const wasEnded = ({ seen, ingest }: AdvanceInput, now: number, freed: boolean, woken: readonly WokenRun[]): Advanced =>
  advanced(now, seen, false, { ingested: ingest === null ? null : answerOf(newWriting(), now), freed, woken });
