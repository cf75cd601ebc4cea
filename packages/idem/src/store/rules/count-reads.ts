// Reads behind headlines, charts and groups of runs: one statement for a whole page.
import {
  type CountFilter,
  type DecisionCount,
  type EventNames,
  type GroupRun,
  type HourCounts,
  hourMs,
  type LastFailure,
  type LiveCountFilter,
  type LiveCounts,
  type RunPayload,
  type RunStart,
  type Slip,
  type SlipFilter,
} from "../counts.ts";
import { afterAll, firstIdAt, lastIdBefore } from "../id-times.ts";
import { type RunRow, readRun } from "../rows.ts";
import type { Database } from "./database.ts";
import type { Asked, Rule } from "./rule.ts";

// With the cursor of the same moment: what is counted meanwhile is in neither, or in both.
const hoursSql = `
  select c.event_id as "eventId", h.hour as at, h.fn, h.started, h.suppressed
    from hour_cursors c left join hour_counts h
      on h.env = c.env and h.hour >= :since and h.hour < :until and (cast(:fn as text) is null or h.fn = :fn)
   where c.env = :env`;
const liveFloorSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and event_id > :after and event_id < :end order by event_id, fn limit 1 offset :skip`;
const slipsSql = `
  select run_id as "runId", generation, fn, at from slips
   where env = :env and run_id >= :low and run_id < :before and at >= :since and at < :until and after_failure = 0
     and (cast(:fn as text) is null or fn = :fn)
   order by run_id desc limit :limit`;

/** For `decisions d`: what came after the hours that are counted. */
export const inTail = `d.env = :env and d.event_id > :after and (d.event_id, d.fn) <= (:lastId, :lastFn) and d.event_id < :end
     and d.decided_at >= :since and d.decided_at < :until and (cast(:fn as text) is null or d.fn = :fn)`;

export function* hourCounts(db: Database, env: string, { since, until, fn }: CountFilter): Rule<HourCounts> {
  const hour = Math.floor(since / hourMs) * hourMs;
  const rows = yield* db.find<Omit<DecisionCount, "at"> & { readonly at: number | null; readonly eventId: string }>(
    hoursSql,
    { env, since: hour, until: Math.ceil(until), fn: fn ?? null },
  );
  return {
    counts: rows.flatMap(({ eventId: _, at, ...count }) => (at === null ? [] : { at, ...count })),
    countedTo: rows[0]?.eventId ?? "",
  };
}

export function* liveCounts(db: Database, env: string, filter: LiveCountFilter): Rule<LiveCounts> {
  const { since, until, fn, after, stepMs, examinedMax, isWhole } = filter;
  const low = firstIdAt(since);
  const asked = {
    env,
    since: Math.floor(since),
    until: Math.ceil(until),
    fn: fn ?? null,
    after: after > low ? after : low,
    end: lastIdBefore(until),
  };
  const floor = yield* db.find<{ eventId: string; fn: string }>(liveFloorSql, { ...asked, skip: examinedMax - 1 });
  const last = floor[0];
  if (isWhole === true && last !== undefined) return { counts: [], slips: [], isAll: false };
  const tail = { ...asked, lastId: last?.eventId ?? afterAll, lastFn: last?.fn ?? afterAll };
  const { live, liveSlips } = db.sql.headlines;
  const counts = yield* db.find<DecisionCount & { readonly slipped: number }>(live, { ...tail, step: stepMs });
  return {
    counts: counts.map(({ slipped: _, ...count }) => count),
    // Asked only where the counts have some: nearly never.
    slips: counts.some(({ slipped }) => slipped > 0) ? yield* db.find<Slip>(liveSlips, tail) : [],
    isAll: last === undefined,
  };
}

export const slips = (db: Database, env: string, { since, until, fn, before, limit }: SlipFilter): Asked<Slip[]> =>
  db.find<Slip>(slipsSql, {
    env,
    low: since === undefined ? "" : firstIdAt(since),
    before: before ?? afterAll,
    since: Math.floor(since ?? 0),
    until: Math.ceil(until ?? Number.MAX_SAFE_INTEGER),
    fn: fn ?? null,
    limit,
  });

interface GroupRow extends RunRow {
  root: string;
  after_failure: number;
}

export function* groupRuns(db: Database, env: string, runIds: readonly string[], limit: number): Rule<GroupRun[]> {
  const rows = yield* db.find<GroupRow>(db.sql.headlines.group, { env, ids: db.list(runIds), limit });
  return rows.map((row) => {
    const { result, ...run } = readRun(row);
    return { group: row.root, run: { ...run, preview: result }, isAfterFailure: row.after_failure === 1 };
  });
}

export const runStarts = (
  db: Database,
  env: string,
  runs: readonly { readonly id: string; readonly eventId: string; readonly fn: string }[],
): Asked<RunStart[]> =>
  db.find<RunStart>(db.sql.headlines.starts, {
    env,
    // SQLite takes one list, PostgreSQL three.
    runs: db.list(runs.map(({ id, eventId, fn }) => JSON.stringify([id, eventId, fn]))),
    ids: db.list(runs.map(({ id }) => id)),
    events: db.list(runs.map(({ eventId }) => eventId)),
    fns: db.list(runs.map(({ fn }) => fn)),
  });

export const eventNames = (db: Database, env: string, eventIds: readonly string[]): Asked<EventNames[]> =>
  db.find<EventNames>(db.sql.headlines.names, { env, ids: db.list(eventIds) });

export const runPayloads = (
  db: Database,
  env: string,
  runIds: readonly string[],
  bytesMax: number,
): Asked<RunPayload[]> => db.find<RunPayload>(db.sql.headlines.payloads, { env, ids: db.list(runIds), max: bytesMax });

export const lastFailures = (db: Database, env: string, runIds: readonly string[]): Asked<LastFailure[]> =>
  db.find<LastFailure>(db.sql.headlines.failures, { env, ids: db.list(runIds) });
