// Lists for people: newest first, without payloads, from a store of any size. A range of time is a range of ids. What no index
// narrows is compared row by row inside the database, between the cursor and the row that is as far behind it as may be looked
// at. The two are asked one after the other: whatever is committed between them, each row before the cursor is looked at once.
import type { Decision, EventOutcome } from "../../model/decision.ts";
import { ownEventPrefixes } from "../../model/own-events.ts";
import { isEnded } from "../../model/run.ts";
import { afterAll, firstIdAt, lastIdBefore } from "../id-times.ts";
import type {
  DecisionCursor,
  DecisionPageFilter,
  EventPageFilter,
  EventSummary,
  Page,
  PageBounds,
  RunPageFilter,
  RunSummary,
} from "../reads.ts";
import {
  type DecisionRow,
  type EventRow,
  gatheredSql,
  pendingSql,
  type RunRow,
  readDecision,
  readEvent,
  readRun,
} from "../rows.ts";
import { inSort, type RunSort } from "../run-sort.ts";
import type { Database, Param } from "./database.ts";
import type { Rule } from "./rule.ts";

type Named = Readonly<Record<string, Param>>;

/** For `runs r`. Null for what is not asked. Open states are read from the queue and compared afterwards, so only ends stand here. */
export const runFits = `r.created_at >= :since and r.created_at < :until
     and (cast(:fn as text) is null or r.fn = :fn) and (cast(:key as text) is null or r.key = :key)
     and (cast(:ended as text) is null or r.ended_state = :ended)
     and (cast(:endedSince as bigint) is null or r.ended_at >= :endedSince)
     and (cast(:endedUntil as bigint) is null or r.ended_at < :endedUntil)`;
/** For `runs r`: the place of a run in the order that is asked for (`sortValue`), so that larger comes first. */
export const sortBy = `cast(:sign as bigint) * (case when cast(:by as text) = 'started' then r.started_at
     when r.ended_at is null or r.ended_at > cast(:asOf as bigint) then :asOf - r.started_at
     else r.ended_at - r.started_at end)`;
/** For `runs r`. */
export const sortedFits = `r.started_at is not null
     and (cast(:afterValue as bigint) is null or (${sortBy}, r.id) < (cast(:afterValue as bigint), :afterId))`;
/** For `decisions d`. */
export const decisionFits =
  "d.decided_at >= :since and d.decided_at < :until and (cast(:fn as text) is null or d.fn = :fn)";

const runsFloorSql = `
  select id from runs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;
const openRunsFloorSql = `
  select id from jobs where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;
const eventsSql = (fits: string) => `
  select e.id, e.caller_id, e.name, octet_length(e.data) as data_bytes, e.ts, e.received_at, e.first_event_id,
         e.source_run_id
    from events e
   where e.env = :env and e.id >= :floor and e.id < :before
     and e.received_at >= :since and e.received_at < :until and (cast(:name as text) is null or e.name = :name)
     and ${fits}
   order by e.id desc limit :limit`;
/** For `events e`: the limit keeps PostgreSQL from reading all decisions at once. */
const decided = (which: string) => `exists (
       select 1 from decisions d
        where d.env = e.env and d.event_id = e.id and (cast(:fn as text) is null or d.fn = :fn) and (${which})
        limit 1 offset 0)`;
const everyEventSql = eventsSql("true");
const ofFunctionSql = eventsSql(decided("true"));
const ofKind = (kind: string) => eventsSql(decided(`d.kind = '${kind}'`));
/** For `events e`: whether it is Idem's own. */
const isOwn = `(${ownEventPrefixes.map((prefix) => `substr(lower(e.name), 1, ${prefix.length}) = '${prefix}'`).join(" or ")})`;
/** As `hasOutcome` has them. */
const outcomeSql: Readonly<Record<EventOutcome, string>> = {
  started: eventsSql(decided(`d.kind = 'started' or d.kind in (${gatheredSql}) and d.run_id is not null`)),
  nothing: eventsSql(`e.first_event_id is null and (cast(:fn as text) is null or ${decided("true")})
     and not ${decided(`d.run_id is not null and d.kind <> 'singleton-skipped' or d.run_id is null and d.kind in (${pendingSql})`)}
     and not (${isOwn} and not ${decided("true")})`),
  unheard: eventsSql(`e.first_event_id is null and cast(:fn as text) is null and not ${decided("true")}
     and not ${isOwn}`),
  duplicate: eventsSql(`(cast(:fn as text) is null or ${decided("true")})
     and (e.first_event_id is not null or ${decided("d.kind in ('duplicate-event', 'duplicate-key')")})`),
  filtered: ofKind("filtered"),
  debounced: ofKind("debounced"),
  batched: ofKind("batched"),
  "rate-limited": ofKind("rate-limited"),
  "singleton-skipped": ofKind("singleton-skipped"),
  paused: ofKind("paused"),
  held: ofKind("held"),
  dropped: ofKind("dropped"),
  missed: ofKind("missed"),
};
const eventsFloorSql = `
  select id from events where env = :env and id >= :low and id < :before order by id desc limit 1 offset :skip`;
const decisionsFloorSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and event_id >= :low and (event_id, fn) < (:before, :beforeFn)
   order by event_id desc, fn desc limit 1 offset :skip`;

export function* runPage(db: Database, env: string, filter: RunPageFilter): Rule<Page<RunSummary, string>> {
  const { pages } = db.sql;
  const { fn, key, state, isOpen, eventId, endedSince, endedUntil } = filter;
  const isOpenState = state !== undefined && !isEnded(state);
  const isNarrowed = [key, state, isOpen, endedSince, endedUntil].some((given) => given !== undefined);
  const bounds = boundsOf(filter);
  const asked: Named = {
    ...bounds,
    env,
    before: boundOf(filter),
    fn: fn ?? null,
    key: key ?? null,
    endedSince: endedSince === undefined ? null : wholeMs(endedSince),
    endedUntil: endedUntil === undefined ? null : wholeMs(endedUntil),
    ended: state === undefined || isOpenState ? null : state,
    state: isOpenState ? state : null,
    open: isOpen === undefined ? null : 1,
    event: eventId ?? null,
  };
  const [sql, floorSql, sortedSql] =
    eventId !== undefined
      ? [pages.runsOfEvent, null, null]
      : isOpen === true || isOpenState
        ? [pages.openRuns, openRunsFloorSql, pages.sortedOpenRuns]
        : fn !== undefined
          ? [pages.runsOfFunction, pages.runsOfFunctionFloor, pages.sortedRunsOfFunction]
          : [pages.runs, runsFloorSql, pages.sortedRuns];
  const { sort } = filter;
  if (sort === undefined) {
    const { rows, next } = yield* lookBack<RunRow>(db, { sql, floorSql, asked, filter, isNarrowed });
    return { rows: rows.map(summaryOfRun), next };
  }
  const floor = floorSql === null ? null : yield* floorOf(db, floorSql, asked);
  const found = { ...asked, floor: floor ?? bounds.low };
  const rows =
    sortedSql === null
      ? yield* db.find<RunRow>(sql, { ...found, limit: filter.examinedMax })
      : yield* db.find<RunRow>(sortedSql, { ...found, ...sortParams(sort), limit: filter.limit });
  const runs = rows.map(summaryOfRun);
  return { rows: sortedSql === null ? inSort(runs, sort).slice(0, filter.limit) : runs, next: floor };
}

function sortParams({ by, isDescending, asOf, after }: RunSort): Named {
  const sign = isDescending ? 1 : -1;
  return { by, sign, asOf, afterValue: after === undefined ? null : after.value * sign, afterId: after?.id ?? "" };
}

export function* eventPage(db: Database, env: string, filter: EventPageFilter): Rule<Page<EventSummary, string>> {
  const { name, fn, outcome } = filter;
  const isDecided = fn !== undefined || outcome !== undefined;
  const asked: Named = {
    ...boundsOf(filter),
    env,
    before: boundOf(filter),
    name: name ?? null,
    ...(isDecided ? { fn: fn ?? null } : {}),
  };
  const sql = outcome !== undefined ? outcomeSql[outcome] : isDecided ? ofFunctionSql : everyEventSql;
  const isNarrowed = isDecided || name !== undefined;
  const { rows, next } = yield* lookBack<EventRow & { data_bytes: number }>(db, {
    ...{ sql, floorSql: eventsFloorSql, asked, filter, isNarrowed },
  });
  return { rows: rows.map(summaryOfEvent), next };
}

export function* decisionPage(
  db: Database,
  env: string,
  filter: DecisionPageFilter,
): Rule<Page<Decision, DecisionCursor>> {
  const { fn, kinds, before: from } = filter;
  const last = boundOf({ ...(filter.until === undefined ? {} : { until: filter.until }) });
  const before = from === undefined || from.eventId > last ? { eventId: last, fn: "" } : from;
  const bounds = boundsOf(filter);
  // Where nothing narrows them, the first ones are those that are wanted.
  const isNarrowed = [fn, kinds, filter.since, filter.until].some((given) => given !== undefined);
  const asked: Named = {
    ...bounds,
    skip: isNarrowed ? bounds.skip : Math.min(bounds.skip, filter.limit),
    env,
    before: before.eventId,
    beforeFn: before.fn,
    fn: fn ?? null,
    kinds: kinds === undefined ? null : db.list(kinds),
  };
  const pending = filter.isPending === true;
  const floor = pending ? null : ((yield* db.find<DecisionCursor>(decisionsFloorSql, asked))[0] ?? null);
  const place = { floor: floor?.eventId ?? bounds.low, floorFn: floor?.fn ?? "" };
  const { pages } = db.sql;
  const sql = !pending ? pages.decisions : filter.oldestFirst === true ? pages.oldestPending : pages.pending;
  const rows = yield* db.find<DecisionRow>(sql, { ...asked, ...place });
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

interface Look {
  readonly sql: string;
  /** Null where there are few: all of them are looked at. */
  readonly floorSql: string | null;
  readonly asked: Named;
  readonly filter: PageBounds;
  /** By something that no index has. */
  readonly isNarrowed: boolean;
}

/**
 * Where nothing but time narrows them, the first rows are those that are wanted, and no more are gone through; for the rest of the page, if
 * the hour around the range that is passed over (id-times.ts) took some of it, as many as may be.
 */
function* lookBack<R extends { readonly id: string }>(
  db: Database,
  { sql, floorSql, asked, filter: { limit, examinedMax }, isNarrowed }: Look,
): Rule<Page<R, string>> {
  const idOf = (row: R) => row.id;
  const low = asked.low!;
  const first = isNarrowed ? examinedMax : Math.min(examinedMax, limit + 1);
  const floor = floorSql === null ? null : yield* floorOf(db, floorSql, { ...asked, skip: first - 1 });
  const rows = yield* db.find<R>(sql, { ...asked, floor: floor ?? low });
  if (rows.length > limit || floor === null || first === examinedMax) return cut(rows, limit, floor, idOf);
  const rest = { ...asked, before: floor, limit: limit + 1 - rows.length };
  const last = yield* floorOf(db, floorSql!, { ...rest, skip: examinedMax - first - 1 });
  const others = yield* db.find<R>(sql, { ...rest, floor: last ?? low });
  return cut([...rows, ...others], limit, last, idOf);
}

/** The last row that may be looked at; null when all may be. */
function* floorOf(db: Database, sql: string, asked: Named): Rule<string | null> {
  return (yield* db.find<{ id: string }>(sql, asked))[0]?.id ?? null;
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
