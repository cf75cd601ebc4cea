// What headlines, charts and groups of runs are made of. Lists of ids come as one JSON text: one statement for a whole page.
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
import { type RunRow, readRun, runColumns } from "../rows.ts";
import { isAfterFailure } from "./after-failure.ts";
import type { Connection } from "./connection.ts";

const hoursSql = `
  select hour as at, fn, started, suppressed from hour_counts
   where env = :env and hour >= :since and hour < :until and (:fn is null or fn = :fn)`;
const cursorSql = "select event_id as eventId from hour_cursors where env = ?";

const liveFloorSql = `
  select event_id as eventId, fn from decisions
   where env = :env and event_id > :after and event_id < :end order by event_id, fn limit 1 offset :skip`;
const inTail = `d.env = :env and d.event_id > :after and (d.event_id, d.fn) <= (:lastId, :lastFn) and d.event_id < :end
     and d.decided_at >= :since and d.decided_at < :until and (:fn is null or d.fn = :fn)`;
const liveSql = `
  select d.decided_at / :step * :step as at, d.fn, sum(d.kind = 'started' and r.event_id is d.event_id) as started,
         sum(d.kind in ('duplicate-event', 'duplicate-key')) as suppressed,
         sum(r.event_id is d.event_id and r.key is not null and r.carried is null and r.generation <> r.id) as slipped
    from decisions d left join runs r on d.kind = 'started' and r.env = d.env and r.id = d.run_id
   where ${inTail} and d.kind in ('started', 'duplicate-event', 'duplicate-key')
   group by 1, 2`;
// Asked only where the counts have some: nearly never.
const liveSlipsSql = `
  select r.id as runId, r.generation, r.fn, r.created_at as at
    from decisions d cross join runs r on r.env = d.env and r.id = d.run_id
   where ${inTail} and d.kind = 'started' and r.event_id = d.event_id
     and r.key is not null and r.carried is null and r.generation <> r.id and not ${isAfterFailure}`;

const slipsSql = `
  select run_id as runId, generation, fn, at from slips
   where env = :env and run_id >= :low and run_id < :before and at >= :since and at < :until and after_failure = 0
     and (:fn is null or fn = :fn)
   order by run_id desc limit :limit`;

const summaryColumns = runColumns.replace("r.result", `substr(r.result, 1, ${previewChars}) as result`);
// Where it was counted it is noted, and stays so when the run before is deleted.
const afterFailure = `
  coalesce((select s.after_failure from slips s where s.env = r.env and s.run_id = r.id), ${isAfterFailure})`;
// "cross join" says in which order: from the few that were asked for to the many (sqlite.org/optoverview.html §7).
// The window's name is the id of the run that opened it; a batch takes many keys, and stands alone.
const groupSql = `
  with found as (select r.id, case when r.key is not null and r.carried is null then r.generation else r.root_run_id end as root
                   from json_each(:ids) i cross join runs r on r.env = :env and r.id = i.value),
       every as (select root, root as id from found
                 union select root, id from found
                 union select found.root, s.run_id from found cross join slips s indexed by slips_by_window
                              on s.env = :env and s.generation = found.root),
       awaited as (select root, id from every
                   union select every.root, r.id from every cross join runs r indexed by runs_by_root
                                on r.env = :env and r.root_run_id = every.id and r.rerun_of is not null)
  select awaited.root, ${afterFailure} as after_failure, ${summaryColumns} from awaited cross join runs r on r.env = :env and r.id = awaited.id
    left join jobs j on j.env = r.env and j.id = r.id
   order by r.id limit :limit`;

const startsSql = `
  select i.value ->> 0 as runId, e.name as eventName, e.caller_id as callerId, d.reason, d.window_ends_at as windowEndsAt,
         (select count(*) from (select 1 from decisions s indexed by decisions_by_run
                                 where s.env = :env and s.run_id = i.value ->> 0 and s.kind <> 'started'
                                   and s.kind in ('duplicate-event', 'duplicate-key') limit ${suppressedCountedMax})) as suppressed
    from json_each(:runs) i
    left join events e on e.env = :env and e.id = i.value ->> 1
    left join decisions d on d.env = :env and d.event_id = i.value ->> 1 and d.fn = i.value ->> 2`;

const payloadsSql = `
  select r.id as runId, case when octet_length(e.data) <= :max then e.data end as data,
         case when octet_length(r.result) <= :max then r.result end as result
    from json_each(:ids) i cross join runs r on r.env = :env and r.id = i.value
    left join events e on e.env = :env and e.id = r.event_id`;

const failuresSql = `
  select a.run_id as runId, a.name as step, a.attempt, substr(a.error, 1, 300) as error, a.retry_at as retryAt
    from json_each(:ids) i cross join attempts a on a.env = :env and a.run_id = i.value
   where a.stamp = (select max(l.stamp) from attempts l where l.env = :env and l.run_id = i.value)`;

interface GroupRow extends RunRow {
  root: string;
  after_failure: number;
}

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };
type CountReads = Sync<
  Pick<StoreReads, "hourCounts" | "liveCounts" | "slips" | "groupRuns" | "runStarts" | "runPayloads" | "lastFailures">
>;

export function countReads(connection: Connection): CountReads {
  return {
    hourCounts: (env, filter: CountFilter) => ({
      counts: connection.find<DecisionCount>(hoursSql, {
        env,
        since: Math.floor(filter.since / hourMs) * hourMs,
        until: filter.until,
        fn: filter.fn ?? null,
      }),
      countedTo: connection.one<{ eventId: string }>(cursorSql, env)?.eventId ?? "",
    }),
    liveCounts: (env, { since, until, fn, after, stepMs, examinedMax }: LiveCountFilter) => {
      const low = firstIdAt(since);
      const asked = {
        env,
        since,
        until,
        fn: fn ?? null,
        after: after > low ? after : low,
        end: lastIdBefore(until),
        step: stepMs,
      };
      const last = connection.find<{ eventId: string; fn: string }>(liveFloorSql, {
        ...asked,
        skip: examinedMax - 1,
      })[0];
      const { step, ...tail } = { ...asked, lastId: last?.eventId ?? afterAll, lastFn: last?.fn ?? afterAll };
      const counts = connection.find<DecisionCount & { readonly slipped: number }>(liveSql, { ...tail, step });
      return {
        counts: counts.map(({ slipped: _, ...count }) => count),
        slips: counts.some(({ slipped }) => slipped > 0) ? connection.find<Slip>(liveSlipsSql, tail) : [],
        isAll: last === undefined,
      };
    },
    slips: (env, { since, until, fn, before, limit }) =>
      connection.find<Slip>(slipsSql, {
        env,
        low: since === undefined ? "" : firstIdAt(since),
        before: before ?? afterAll,
        since: since ?? 0,
        until: until ?? Number.MAX_SAFE_INTEGER,
        fn: fn ?? null,
        limit,
      }),
    groupRuns: (env, runIds, limit) =>
      connection.find<GroupRow>(groupSql, { env, ids: JSON.stringify(runIds), limit }).map((row) => {
        const { result, ...run } = readRun(row);
        return { group: row.root, run: { ...run, preview: result }, isAfterFailure: row.after_failure === 1 };
      }),
    runStarts: (env, runs) =>
      connection.find<RunStart>(startsSql, {
        env,
        runs: JSON.stringify(runs.map(({ id, eventId, fn }) => [id, eventId, fn])),
      }),
    runPayloads: (env, runIds, bytesMax) =>
      connection.find<RunPayload>(payloadsSql, { env, ids: JSON.stringify(runIds), max: bytesMax }),
    lastFailures: (env, runIds) => connection.find<LastFailure>(failuresSql, { env, ids: JSON.stringify(runIds) }),
  };
}
