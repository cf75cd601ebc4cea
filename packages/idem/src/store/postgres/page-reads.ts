// Lists for people: newest first, without payloads, from a store of any size. A range of time is a range of ids. What no index
// narrows is compared row by row inside the database, between the cursor and the row that is as far behind it as may be looked
// at. The two are asked one after the other: whatever is committed between them, each row before the cursor is looked at once.
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
} from "../reads.ts";
import {
  type DecisionRow,
  type EventRow,
  jobOfRunColumns,
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
// The limits keep the planner from joining whole tables: it cannot know that a page is small (docs/reference/stores.md#plans).
const withJob = `left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true`;
// Null for what is not asked. Open states are read from the queue and compared afterwards, so only ends stand here.
const runFits = `r.created_at >= :since and r.created_at < :until
     and (cast(:fn as text) is null or r.fn = :fn) and (cast(:key as text) is null or r.key = :key)
     and (cast(:ended as text) is null or r.ended_state = :ended)`;

const runsSql = `
  select ${summaryColumns} from runs r ${withJob}
   where r.env = :env and r.id >= :floor and r.id < :before and ${runFits}
   order by r.id desc limit :limit`;
const runsFloorSql = `
  select id from runs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const runsOfFunctionSql = `
  select ${summaryColumns} from runs r ${withJob}
   where r.env = :env and r.fn = :fn and r.id >= :floor and r.id < :before and ${runFits}
   order by r.id desc limit :limit`;
const runsOfFunctionFloorSql = `
  select id from runs
   where env = :env and fn = :fn and id >= :low and id < :before order by id desc limit 1 offset :skip`;

// Open runs are few and have a job each; the queue finds them without reading history.
const openRunsSql = `
  select ${summaryColumns}
    from jobs j join lateral (select * from runs where env = j.env and id = j.id limit 1) r on true
   where j.env = :env and j.kind = 'run' and j.id >= :floor and j.id < :before and ${runFits}
     and (cast(:state as text) is null or :state = ${openStateSql})
   order by j.id desc limit :limit`;
const openRunsFloorSql = `
  select id from jobs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const runsOfEventSql = `
  with started as (select run_id from decisions where env = :env and event_id = :event and kind = 'started'),
       every as (select run_id from started
                 union all
                 select r.id from started s cross join lateral (
                   select id from runs where env = :env and root_run_id = s.run_id and rerun_of is not null offset 0) r)
  select ${summaryColumns} from every join runs r on r.env = :env and r.id = every.run_id ${withJob}
   where r.id < :before and ${runFits} and (cast(:open as integer) is null or r.ended_state is null)
     and (cast(:state as text) is null or r.ended_state is null and :state = ${openStateSql})
   order by r.id desc limit :limit`;

const eventsSql = `
  select e.id, e.caller_id, e.name, octet_length(e.data) as data_bytes, e.ts, e.received_at, e.first_event_id,
         e.source_run_id
    from events e
   where e.env = :env and e.id >= :floor and e.id < :before
     and e.received_at >= :since and e.received_at < :until and (cast(:name as text) is null or e.name = :name)
   order by e.id desc limit :limit`;
const eventsFloorSql = `
  select id from events where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;

const decisionColumns =
  "d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at";
const decisionFits = `d.decided_at >= :since and d.decided_at < :until and (cast(:fn as text) is null or d.fn = :fn)
     and (cast(:kinds as text[]) is null or d.kind = any(:kinds))`;

const decisionsSql = `
  select ${decisionColumns} from decisions d
   where d.env = :env and (d.event_id, d.fn) >= (:floor, :floorFn) and (d.event_id, d.fn) < (:before, :beforeFn)
     and ${decisionFits}
   order by d.event_id desc, d.fn desc limit :limit`;
// What is pending is little, and has an index of its own: no floor is needed.
const pendingSql = `
  select ${decisionColumns} from decisions d
   where d.env = :env and d.run_id is null and d.kind in ('held', 'paused', 'debounced', 'batched')
     and (d.event_id, d.fn) < (:before, :beforeFn) and ${decisionFits}
   order by d.event_id desc, d.fn desc limit :limit`;
const oldestPendingSql = `
  select ${decisionColumns} from decisions d
   where d.env = :env and d.run_id is null and d.kind in ('held', 'paused', 'debounced', 'batched') and ${decisionFits}
   order by d.event_id, d.fn limit :limit`;
const decisionsFloorSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and event_id >= :low and (event_id, fn) < (:before, :beforeFn)
   order by event_id desc, fn desc limit 1 offset :skip`;

type Named = Readonly<Record<string, Param>>;

export async function runPage(
  connection: Connection,
  env: string,
  filter: RunPageFilter,
): Promise<Page<RunSummary, string>> {
  const { fn, key, state, isOpen, eventId } = filter;
  const isOpenState = state !== undefined && !isEnded(state);
  const bounds = boundsOf(filter);
  const asked: Named = {
    ...bounds,
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
  const floor = floorSql === null ? null : await floorOf(connection, floorSql, asked);
  const rows = await connection.find<RunRow>(sql, { ...asked, floor: floor ?? bounds.low });
  return cut(rows.map(summaryOfRun), filter.limit, floor, (run) => run.id);
}

export async function eventPage(
  connection: Connection,
  env: string,
  filter: EventPageFilter,
): Promise<Page<EventSummary, string>> {
  const bounds = boundsOf(filter);
  const asked: Named = { ...bounds, env, before: boundOf(filter), name: filter.name ?? null };
  const floor = await floorOf(connection, eventsFloorSql, asked);
  const rows = await connection.find<EventRow & { data_bytes: number }>(eventsSql, {
    ...asked,
    floor: floor ?? bounds.low,
  });
  return cut(rows.map(summaryOfEvent), filter.limit, floor, (event) => event.id);
}

export async function decisionPage(connection: Connection, env: string, filter: DecisionPageFilter) {
  const { fn, kinds, before: from } = filter;
  const last = boundOf({ ...(filter.until === undefined ? {} : { until: filter.until }) });
  const before = from === undefined || from.eventId > last ? { eventId: last, fn: "" } : from;
  const bounds = boundsOf(filter);
  const asked: Named = {
    ...bounds,
    env,
    before: before.eventId,
    beforeFn: before.fn,
    fn: fn ?? null,
    kinds: kinds ?? null,
  };
  const pending = filter.isPending === true;
  const floor = pending ? null : ((await connection.find<DecisionCursor>(decisionsFloorSql, asked))[0] ?? null);
  const place = { floor: floor?.eventId ?? bounds.low, floorFn: floor?.fn ?? "" };
  const sql = !pending ? decisionsSql : filter.oldestFirst === true ? oldestPendingSql : pendingSql;
  const rows = await connection.find<DecisionRow>(sql, { ...asked, ...place });
  return cut(
    rows.map(readDecision),
    filter.limit,
    floor,
    (decision): DecisionCursor => ({ eventId: decision.eventId, fn: decision.fn }),
  );
}

/** One more row than is wanted tells whether there is more. */
const boundsOf = ({ since, until, limit, examinedMax }: PageBounds) => ({
  since: wholeMs(since ?? 0),
  until: wholeMs(until ?? Number.MAX_SAFE_INTEGER),
  low: since === undefined ? "" : firstIdAt(since),
  limit: limit + 1,
  skip: examinedMax - 1,
});

/** Instants of rows are whole, and the column takes no others: the same rows are at or after it, and before it. */
const wholeMs = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

function boundOf({ before, until }: { readonly before?: string; readonly until?: number }): string {
  const last = until === undefined ? afterAll : lastIdBefore(until);
  return before === undefined || before > last ? last : before;
}

/** The last row that may be looked at; null when all may be. */
const floorOf = async (connection: Connection, sql: string, asked: Named): Promise<string | null> =>
  (await connection.find<{ id: string }>(sql, asked))[0]?.id ?? null;

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
