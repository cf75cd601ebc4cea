// Lists for people: newest first, without payloads, from a store of any size. A range of time is a range of ids. What no index
// narrows is compared row by row inside the database, between the cursor and the row that is as far behind it as may be looked
// at: 10,000 rows take 2 to 6 ms, and commits wait meanwhile.
import { isEnded } from "../../model/run.ts";
import { afterAll, firstIdAt, lastIdBefore } from "../id-times.ts";
import {
  type DecisionCursor,
  type DecisionPageFilter,
  type EventPageFilter,
  type EventSummary,
  type Page,
  type PageBounds,
  previewChars,
  type RunPageFilter,
  type RunSummary,
  type StoreReads,
} from "../reads.ts";
import {
  type DecisionRow,
  type EventRow,
  openStateSql,
  type RunRow,
  readDecision,
  readEvent,
  readRun,
  runColumns,
} from "../rows.ts";
import type { Connection, Param } from "./connection.ts";

// The result can be megabytes; a list shows its beginning.
const summaryColumns = runColumns.replace("r.result", `substr(r.result, 1, ${previewChars}) as result`);
const withJob = "left join jobs j on j.env = r.env and j.id = r.id";
// Null for what is not asked. Open states are read from the queue and compared afterwards, so only ends stand here.
const runFits = `r.created_at >= :since and r.created_at < :until
     and (:fn is null or r.fn = :fn) and (:key is null or r.key = :key)
     and (:ended is null or r.ended_state = :ended)`;

const runsSql = `
  select ${summaryColumns} from runs r ${withJob}
   where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}
   order by r.id desc limit :limit`;
const runsFloorSql = `
  select id from runs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const runsOfFunctionSql = `
  select ${summaryColumns} from runs r indexed by runs_by_function ${withJob}
   where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}
   order by r.id desc limit :limit`;
const runsOfFunctionFloorSql = `
  select id from runs indexed by runs_by_function
   where env = :env and fn = :fn and id >= :low and id < :before order by id desc limit 1 offset :skip`;

// Open runs are few and have a job each; the queue finds them without reading history.
const openRunsSql = `
  select ${summaryColumns} from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
     and (:state is null or :state = ${openStateSql})
   order by j.id desc limit :limit`;
const openRunsFloorSql = `
  select id from jobs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const runsOfEventSql = `
  with started as (select run_id from decisions where env = :env and event_id = :event and kind = 'started'),
       every as (select run_id from started
                 union all
                 select r.id from runs r indexed by runs_by_root join started s on r.root_run_id = s.run_id
                  where r.env = :env and r.rerun_of is not null)
  select ${summaryColumns} from every join runs r on r.env = :env and r.id = every.run_id ${withJob}
   where r.id < :before and ${runFits} and (:open is null or r.ended_state is null)
     and (:state is null or r.ended_state is null and :state = ${openStateSql})
   order by r.id desc limit :limit`;

const eventsSql = `
  select e.id, e.caller_id, e.name, octet_length(e.data) as data_bytes, e.ts, e.received_at, e.first_event_id,
         e.source_run_id
    from events e
   where e.env = :env and e.id >= :floor and e.id < :before
     and e.received_at >= :since and e.received_at < :until and (:name is null or e.name = :name)
   order by e.id desc limit :limit`;
const eventsFloorSql = `
  select id from events where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const decisionsSql = `
  select d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at
    from decisions d
   where d.env = :env and (d.event_id, d.fn) >= (:floor, :floorFn) and (d.event_id, d.fn) < (:before, :beforeFn)
     and d.decided_at >= :since and d.decided_at < :until and (:fn is null or d.fn = :fn)
     and (:kinds is null or d.kind in (select value from json_each(:kinds)))
   order by d.event_id desc, d.fn desc limit :limit`;
// What is pending is little, and has an index of its own: no floor is needed.
const pendingSql = `
  select d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at
    from decisions d indexed by decisions_pending
   where d.env = :env and d.run_id is null and d.kind in ('held', 'paused', 'debounced', 'batched')
     and (d.event_id, d.fn) < (:before, :beforeFn)
     and d.decided_at >= :since and d.decided_at < :until and (:fn is null or d.fn = :fn)
     and (:kinds is null or d.kind in (select value from json_each(:kinds)))
   order by d.event_id desc, d.fn desc limit :limit`;
const oldestPendingSql = `
  select d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at
    from decisions d indexed by decisions_pending
   where d.env = :env and d.run_id is null and d.kind in ('held', 'paused', 'debounced', 'batched')
     and d.decided_at >= :since and d.decided_at < :until and (:fn is null or d.fn = :fn)
     and (:kinds is null or d.kind in (select value from json_each(:kinds)))
   order by d.event_id, d.fn limit :limit`;
const decisionsFloorSql = `
  select event_id as eventId, fn from decisions
   where env = :env and event_id >= :low and (event_id, fn) < (:before, :beforeFn)
   order by event_id desc, fn desc limit 1 offset :skip`;

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };
type Pages = Sync<Pick<StoreReads, "runPage" | "eventPage" | "decisionPage">>;
type Named = Readonly<Record<string, Param>>;

export function pagesOver(connection: Connection): Pages {
  return {
    runPage: (env, filter) => runPage(connection, env, filter),
    eventPage: (env, filter) => eventPage(connection, env, filter),
    decisionPage: (env, filter) => decisionPage(connection, env, filter),
  };
}

function runPage(connection: Connection, env: string, filter: RunPageFilter): Page<RunSummary, string> {
  const { fn, key, state, isOpen, eventId } = filter;
  const isOpenState = state !== undefined && !isEnded(state);
  const asked: Named = {
    ...boundsOf(filter),
    env,
    before: boundOf(filter),
    fn: fn ?? null,
    key: key ?? null,
    ended: state === undefined || isOpenState ? null : state,
    state: isOpenState ? state : null,
    open: isOpen === undefined ? null : 1,
    event: eventId ?? null,
  };
  const [sql, floorSql] =
    eventId !== undefined
      ? [runsOfEventSql, null]
      : isOpen === true || isOpenState
        ? [openRunsSql, openRunsFloorSql]
        : fn !== undefined
          ? [runsOfFunctionSql, runsOfFunctionFloorSql]
          : [runsSql, runsFloorSql];
  // The runs of one event are few: all of them are looked at.
  const floor = floorSql === null ? null : (connection.find<{ id: string }>(floorSql, asked)[0]?.id ?? null);
  const rows = connection.find<RunRow>(sql, { ...asked, floor: floor ?? asked.low! });
  return cut(rows.map(summaryOfRun), filter.limit, floor, (run) => run.id);
}

function eventPage(connection: Connection, env: string, filter: EventPageFilter): Page<EventSummary, string> {
  const asked: Named = { ...boundsOf(filter), env, before: boundOf(filter), name: filter.name ?? null };
  const floor = connection.find<{ id: string }>(eventsFloorSql, asked)[0]?.id ?? null;
  const rows = connection.find<EventRow & { data_bytes: number }>(eventsSql, { ...asked, floor: floor ?? asked.low! });
  return cut(rows.map(summaryOfEvent), filter.limit, floor, (event) => event.id);
}

function decisionPage(connection: Connection, env: string, filter: DecisionPageFilter) {
  const { fn, kinds, before: from } = filter;
  const last = boundOf({ ...(filter.until === undefined ? {} : { until: filter.until }) });
  const before = from === undefined || from.eventId > last ? { eventId: last, fn: "" } : from;
  const asked: Named = {
    ...boundsOf(filter),
    env,
    before: before.eventId,
    beforeFn: before.fn,
    fn: fn ?? null,
    kinds: kinds === undefined ? null : JSON.stringify(kinds),
  };
  const pending = filter.isPending === true;
  const floor = pending ? null : (connection.find<DecisionCursor>(decisionsFloorSql, asked)[0] ?? null);
  const place = { floor: floor?.eventId ?? asked.low!, floorFn: floor?.fn ?? "" };
  const sql = !pending ? decisionsSql : filter.oldestFirst === true ? oldestPendingSql : pendingSql;
  const rows = connection.find<DecisionRow>(sql, { ...asked, ...place });
  return cut(
    rows.map(readDecision),
    filter.limit,
    floor,
    (decision): DecisionCursor => ({
      eventId: decision.eventId,
      fn: decision.fn,
    }),
  );
}

/** One more row than is wanted tells whether there is more. */
const boundsOf = ({ since, until, limit, examinedMax }: PageBounds) => ({
  since: since ?? 0,
  until: until ?? Number.MAX_SAFE_INTEGER,
  low: since === undefined ? "" : firstIdAt(since),
  limit: limit + 1,
  skip: examinedMax - 1,
});

function boundOf({ before, until }: { readonly before?: string; readonly until?: number }): string {
  const last = until === undefined ? afterAll : lastIdBefore(until);
  return before === undefined || before > last ? last : before;
}

/** `floor` is the last row that was looked at; null when all were. */
function cut<R, C>(rows: readonly R[], limit: number, floor: C | null, cursor: (row: R) => C): Page<R, C> {
  if (rows.length <= limit) return { rows, next: floor };
  const page = rows.slice(0, limit);
  return { rows: page, next: cursor(page.at(-1)!) };
}

function summaryOfRun(row: RunRow): RunSummary {
  const { result, ...run } = readRun(row);
  return { ...run, preview: result };
}

function summaryOfEvent(row: EventRow & { data_bytes: number }): EventSummary {
  const { data: _, extra: __, ...event } = readEvent(row);
  return { ...event, dataBytes: row.data_bytes };
}
