// The memos of many runs, a statement for each table instead of five for each run. Rows are looked up run by run in a lateral, for the
// planner cannot know how few there are of each (docs/reference/stores.md#plans).
import type { RunMemo } from "../leases.ts";
import {
  type AttemptRow,
  type EventRow,
  eventColumns,
  type RunRow,
  runColumns,
  type StepRow,
  type WaitRow,
  waitColumns,
} from "../rows.ts";
import { attemptColumns, memoOf, stepColumns } from "../rules/read-memo.ts";
import type { Connection } from "./connection.ts";

const askedSql = "from unnest(cast(:ids as text[])) as asked (id)";

const runsSql = `
  select ${runColumns} ${askedSql}
   cross join lateral (select * from runs where env = :env and id = asked.id limit 1) r
    left join lateral (select * from jobs where env = :env and id = asked.id limit 1) j on true`;
const eventsOfRunsSql = `
  select asked.id as of_run, ${eventColumns} ${askedSql}
   cross join lateral (select event_id from runs where env = :env and id = asked.id limit 1) r
   cross join lateral (select * from events where env = :env and id = r.event_id limit 1) e`;
const eventsSql = `
  select ${eventColumns} ${askedSql}
   cross join lateral (select * from events where env = :env and id = asked.id limit 1) e`;
const carriedSql = `
  select b.run_id as of_run, ${eventColumns} ${askedSql}
   cross join lateral (select run_id, n, event_id from run_events where env = :env and run_id = asked.id offset 0) b
   cross join lateral (select * from events where env = :env and id = b.event_id limit 1) e
   order by b.run_id, b.n`;
const rowsOf = (table: string, columns: string) => `
  select asked.id as of_run, each.* ${askedSql}
   cross join lateral (select ${columns}, stamp as at from ${table} where env = :env and run_id = asked.id offset 0) each
   order by asked.id, at`;
const stepsSql = rowsOf("steps", stepColumns);
const attemptsSql = rowsOf("attempts", attemptColumns);
const waitsSql = rowsOf("waits", waitColumns);

type OfRun<Row> = Row & { readonly of_run: string };

/** The rows of each run, in their order. */
function byRun<Row>(rows: readonly OfRun<Row>[]): ReadonlyMap<string, readonly Row[]> {
  const lists = new Map<string, Row[]>();
  for (const row of rows) {
    const list = lists.get(row.of_run);
    if (list === undefined) lists.set(row.of_run, [row]);
    else list.push(row);
  }
  return lists;
}

export type WaitsOfRuns = ReadonlyMap<string, readonly WaitRow[]>;

/** What each of them waits for, in the order in which it began. */
export async function waitsOfRuns(connection: Connection, env: string, ids: readonly string[]): Promise<WaitsOfRuns> {
  return ids.length === 0 ? new Map() : byRun(await connection.find<OfRun<WaitRow>>(waitsSql, { env, ids }));
}

export async function eventsOf(
  connection: Connection,
  env: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EventRow>> {
  if (ids.length === 0) return new Map();
  const rows = await connection.find<EventRow>(eventsSql, { env, ids });
  return new Map(rows.map((row) => [row.id, row]));
}

/** By run; those that are not there are missing. All of it is sent before the first answer is waited for. */
export async function readMemos(
  connection: Connection,
  env: string,
  ids: readonly string[],
  waits: WaitsOfRuns,
): Promise<ReadonlyMap<string, RunMemo>> {
  const memos = new Map<string, RunMemo>();
  if (ids.length === 0) return memos;
  const [runs, steps, attempts, events] = await Promise.all([
    connection.find<RunRow>(runsSql, { env, ids }),
    connection.find<OfRun<StepRow>>(stepsSql, { env, ids }),
    connection.find<OfRun<AttemptRow>>(attemptsSql, { env, ids }),
    connection.find<OfRun<EventRow>>(eventsOfRunsSql, { env, ids }),
  ]);
  const batched = runs.filter(({ carried }) => carried !== null).map(({ id }) => id);
  const carried = batched.length === 0 ? [] : await connection.find<OfRun<EventRow>>(carriedSql, { env, ids: batched });
  const of = { steps: byRun(steps), attempts: byRun(attempts), carried: byRun(carried) };
  const eventOf = new Map(events.map((event) => [event.of_run, event]));
  for (const run of runs) {
    const event = eventOf.get(run.id);
    if (event === undefined) continue;
    memos.set(
      run.id,
      memoOf({
        run,
        event,
        carried: of.carried.get(run.id) ?? none,
        steps: of.steps.get(run.id) ?? none,
        attempts: of.attempts.get(run.id) ?? none,
        waits: waits.get(run.id) ?? none,
      }),
    );
  }
  return memos;
}

const none: readonly never[] = [];
