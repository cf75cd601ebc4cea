// What headlines, charts and groups of runs are made of. Lists of ids come as arrays: one statement for a whole page. The limits
// keep the planner from joining whole tables (docs/reference/stores.md#plans).
import {
  type CountFilter,
  type DecisionCount,
  hourMs,
  type LastFailure,
  type LiveCountFilter,
  type RunPayload,
  type RunStart,
  type Slip,
  suppressedCountedMax,
} from "../counts.ts";
import { afterAll, firstIdAt, lastIdBefore } from "../id-times.ts";
import { previewChars, type StoreReads } from "../reads.ts";
import { jobOfRunColumns, type RunRow, readRun, runColumns } from "../rows.ts";
import { isAfterFailure } from "./after-failure.ts";
import type { Connection } from "./connection.ts";

// With the cursor of the same moment: what is counted meanwhile is in neither, or in both.
const hoursSql = `
  select c.event_id as "eventId", h.hour as at, h.fn, h.started, h.suppressed
    from hour_cursors c left join hour_counts h
      on h.env = c.env and h.hour >= :since and h.hour < :until and (cast(:fn as text) is null or h.fn = :fn)
   where c.env = :env`;

const liveFloorSql = `
  select event_id as "eventId", fn from decisions
   where env = :env and event_id > :after and event_id < :end order by event_id, fn limit 1 offset :skip`;
const inTail = `d.env = :env and d.event_id > :after and (d.event_id, d.fn) <= (:lastId, :lastFn) and d.event_id < :end
     and d.decided_at >= :since and d.decided_at < :until and (cast(:fn as text) is null or d.fn = :fn)`;
const liveSql = `
  select d.decided_at / cast(:step as bigint) * cast(:step as bigint) as at, d.fn, count(*) filter (where d.kind = 'started' and r.event_id = d.event_id) as started,
         count(*) filter (where d.kind <> 'started') as suppressed,
         count(*) filter (where r.event_id = d.event_id and r.is_slip) as slipped
    from decisions d
    left join lateral (select event_id, key is not null and carried is null and generation <> id as is_slip
                         from runs where d.kind = 'started' and env = d.env and id = d.run_id limit 1) r on true
   where ${inTail} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
   group by 1, 2`;
// Asked only where the counts have some: nearly never.
const liveSlipsSql = `
  select r.id as "runId", r.generation, r.fn, r.created_at as at
    from decisions d
    join lateral (select * from runs where env = d.env and id = d.run_id limit 1) r on r.event_id = d.event_id
   where ${inTail} and d.kind = 'started'
     and r.key is not null and r.carried is null and r.generation <> r.id and not ${isAfterFailure}`;

const slipsSql = `
  select run_id as "runId", generation, fn, at from slips
   where env = :env and run_id >= :low and run_id < :before and at >= :since and at < :until and after_failure = 0
     and (cast(:fn as text) is null or fn = :fn)
   order by run_id desc limit :limit`;

const summaryColumns = runColumns.replace("r.result", `substr(r.result, 1, ${previewChars}) as result`);
// Where it was counted it is noted, and stays so when the run before is deleted.
const afterFailure = `
  coalesce((select s.after_failure from slips s where s.env = r.env and s.run_id = r.id), cast(${isAfterFailure} as integer))`;
// The window's name is the id of the run that opened it; a batch takes many keys, and stands alone.
const groupSql = `
  with found as (select r.id, case when r.key is not null and r.carried is null then r.generation else r.root_run_id end as root
                   from unnest(cast(:ids as text[])) i (id)
                   join lateral (select * from runs where env = :env and id = i.id limit 1) r on true),
       opened as (select root, root as id from found
                  union select root, id from found
                  union select f.root, s.run_id from found f
                          join lateral (select run_id from slips where env = :env and generation = f.root limit :limit) s on true),
       shared as (select root, id from opened
                  union select o.root, r.id from opened o
                          join lateral (select id from runs where env = :env and root_run_id = o.id and rerun_of is not null
                                         limit :limit) r on true)
  select m.root, ${afterFailure} as after_failure, ${summaryColumns}
    from shared m
    join lateral (select * from runs where env = :env and id = m.id limit 1) r on true
    left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true
   order by r.id limit :limit`;

const startsSql = `
  select i.run_id as "runId", e.name as "eventName", e.caller_id as "callerId", d.reason, d.window_ends_at as "windowEndsAt",
         (select count(*) from (select 1 from decisions s
                                 where s.env = :env and s.run_id = i.run_id and s.kind <> 'started'
                                   and s.kind in ('duplicate-event', 'duplicate-key') limit ${suppressedCountedMax}) c) as suppressed
    from unnest(cast(:ids as text[]), cast(:events as text[]), cast(:fns as text[])) i (run_id, event_id, fn)
    left join lateral (select name, caller_id from events where env = :env and id = i.event_id limit 1) e on true
    left join lateral (select reason, window_ends_at from decisions
                        where env = :env and event_id = i.event_id and fn = i.fn limit 1) d on true`;

const payloadsSql = `
  select r.id as "runId", case when octet_length(e.data) <= :max then e.data end as data,
         case when octet_length(r.result) <= :max then r.result end as result
    from unnest(cast(:ids as text[])) i (id)
    join lateral (select id, event_id, result from runs where env = :env and id = i.id limit 1) r on true
    left join lateral (select data from events where env = :env and id = r.event_id limit 1) e on true`;

const failuresSql = `
  select i.id as "runId", a.name as step, a.attempt, substr(a.error, 1, 300) as error, a.retry_at as "retryAt"
    from unnest(cast(:ids as text[])) i (id)
    join lateral (select name, attempt, error, retry_at from attempts
                   where env = :env and run_id = i.id order by stamp desc limit 1) a on true`;

interface GroupRow extends RunRow {
  root: string;
  after_failure: number;
}

type CountReads = Pick<
  StoreReads,
  "hourCounts" | "liveCounts" | "slips" | "groupRuns" | "runStarts" | "runPayloads" | "lastFailures"
>;

export function countReads(connection: Connection): CountReads {
  return {
    hourCounts: async (env, filter: CountFilter) => {
      const asked = {
        env,
        since: Math.floor(filter.since / hourMs) * hourMs,
        until: Math.ceil(filter.until),
        fn: filter.fn ?? null,
      };
      const rows = await connection.find<{
        at: number;
        fn: string;
        started: number;
        suppressed: number;
        eventId: string;
      }>(hoursSql, asked);
      return {
        counts: rows.flatMap(({ eventId: _, ...count }) => (count.at === null ? [] : count)),
        countedTo: rows[0]?.eventId ?? "",
      };
    },
    liveCounts: async (env, { since, until, fn, after, stepMs, examinedMax }: LiveCountFilter) => {
      const low = firstIdAt(since);
      const asked = {
        env,
        since: Math.floor(since),
        until: Math.ceil(until),
        fn: fn ?? null,
        after: after > low ? after : low,
        end: lastIdBefore(until),
        step: stepMs,
      };
      const last = (
        await connection.find<{ eventId: string; fn: string }>(liveFloorSql, { ...asked, skip: examinedMax - 1 })
      )[0];
      const { step, ...tail } = { ...asked, lastId: last?.eventId ?? afterAll, lastFn: last?.fn ?? afterAll };
      const counts = await connection.find<DecisionCount & { readonly slipped: number }>(liveSql, { ...tail, step });
      return {
        counts: counts.map(({ slipped: _, ...count }) => count),
        slips: counts.some(({ slipped }) => slipped > 0) ? await connection.find<Slip>(liveSlipsSql, tail) : [],
        isAll: last === undefined,
      };
    },
    slips: (env, { since, until, fn, before, limit }) =>
      connection.find<Slip>(slipsSql, {
        env,
        low: since === undefined ? "" : firstIdAt(since),
        before: before ?? afterAll,
        since: Math.floor(since ?? 0),
        until: Math.ceil(until ?? Number.MAX_SAFE_INTEGER),
        fn: fn ?? null,
        limit,
      }),
    groupRuns: async (env, runIds, limit) =>
      (await connection.find<GroupRow>(groupSql, { env, ids: [...runIds], limit })).map((row) => {
        const { result, ...run } = readRun(row);
        return { group: row.root, run: { ...run, preview: result }, isAfterFailure: row.after_failure === 1 };
      }),
    runStarts: (env, runs) =>
      connection.find<RunStart>(startsSql, {
        env,
        ids: runs.map(({ id }) => id),
        events: runs.map(({ eventId }) => eventId),
        fns: runs.map(({ fn }) => fn),
      }),
    runPayloads: (env, runIds, bytesMax) =>
      connection.find<RunPayload>(payloadsSql, { env, ids: [...runIds], max: bytesMax }),
    lastFailures: (env, runIds) => connection.find<LastFailure>(failuresSql, { env, ids: [...runIds] }),
  };
}
