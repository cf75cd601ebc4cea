// Reads for people and tools: keyset pages, no cursor held across calls, nothing here decides anything.
import { eventIdScopes, type Instant } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import { isEnded, type RunState } from "../../model/run.ts";
import type { RegisteredFunction } from "../functions.ts";
import { afterAll } from "../id-times.ts";
import {
  afterScopes,
  type ClaimFilter,
  type EventFilter,
  type OpenCounts,
  type RunFilter,
  type StoreCounts,
  type StoreReads,
} from "../reads.ts";
import {
  type ClaimRow,
  type DecisionRow,
  type EventRow,
  eventColumns,
  type RunRow,
  readClaim,
  readDecision,
  readEvent,
  readRun,
  runColumns,
} from "../rows.ts";
import { rulesMatching } from "../rules/cancel-rules.ts";
import { findEvent, findRun, readMemo } from "../rules/read-memo.ts";
import { registrationOf } from "../rules/register-functions.ts";
import { driveAtOnce } from "../rules/rule.ts";
import { cronsIn } from "../rules/tick-crons.ts";
import type { Setting } from "../settings.ts";
import { alertReads } from "./alert-reads.ts";
import { type FindClaimRow, findBesideOwner, indexedTo } from "./claim-index.ts";
import type { Connection, Param } from "./connection.ts";
import { countReads } from "./count-reads.ts";
import { selectDecisionsSql } from "./ingest-events.ts";
import { limitUses } from "./limit-uses.ts";
import { pagesOver } from "./page-reads.ts";
import { countPending, findBuffer } from "./pending-reads.ts";
import { RuleDatabase } from "./rule-database.ts";
import { stepReads } from "./step-reads.ts";
import { listWorkers } from "./worker-rows.ts";
import { auditPage } from "./write-audit.ts";

const functionsSql = `
  select fn, app, id, config, paused_at as pausedAt from functions
   where env = ? and archived_at is null order by fn`;

const runsFrom = "from runs r left join jobs j on j.env = r.env and j.id = r.id";
const runsSql = `select ${runColumns} ${runsFrom} where r.env = ? and r.id < ? order by r.id desc limit ?`;
const runsOfFunctionSql = `
  select ${runColumns} from runs r indexed by runs_by_function left join jobs j on j.env = r.env and j.id = r.id
   where r.env = ? and r.fn = ? and r.id < ? order by r.id desc limit ?`;
// Open runs are few and have a job each; the queue finds them without reading history.
const openRunsSql = `
  select ${runColumns} from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = ? and j.kind = 'run' and j.id < ? order by j.id desc limit ?`;
const runsOfEventSql = `
  with started as (select run_id from decisions where env = ? and event_id = ? and kind = 'started'),
       every as (select run_id from started
                 union all
                 select r.id from runs r indexed by runs_by_root join started s on r.root_run_id = s.run_id
                  where r.env = ? and r.rerun_of is not null)
  select ${runColumns} from every join runs r on r.env = ? and r.id = every.run_id
    left join jobs j on j.env = r.env and j.id = r.id
   where r.id < ? order by r.id desc limit ?`;

const eventsSql = `select ${eventColumns} from events e where e.env = ? and e.id < ? order by e.id desc limit ?`;
const eventsByNameSql = `
  select ${eventColumns} from events e where e.env = ? and e.name = ? and e.id < ? order by e.id desc limit ?`;
const duplicatesSql = `
  select ${eventColumns} from events e indexed by events_by_first
   where e.env = ? and e.first_event_id = ? order by e.id limit ?`;

const duplicatesOfRunSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions indexed by decisions_by_run
   where env = ? and run_id = ? and event_id > ? and kind <> 'started' order by event_id limit ?`;

// A function key whose run has ended is settled; the claim itself is not written again for that (end-run.ts).
const claimColumns = `scope, key, holder, fence, generation,
  case when state = 'in-flight' and exists (
    select 1 from runs r where r.env = claims.env and r.id = claims.holder and r.ended_state is not null
  ) then 'settled' else state end as state,
  fingerprint, taken_at, lease_until, ends_at, held, asked,
  last_asked_at, outcome`;
const claimSql = `select ${claimColumns} from claims where n = ?`;
// The tree and the claims that are not in it yet, each in order.
const claimsSql = `
  with found (scope, key, n) as (
    select scope, key, n from claim_keys
     where n <= ${indexedTo} and env = :env and (scope, key) > (:scope, :key) and scope < :end
    union all
    select scope, key, n from claims
     where n > ${indexedTo} and env = :env and (scope, key) > (:scope, :key) and scope < :end
    order by scope, key limit :limit)
  select ${claimColumns} from claims where n in (select n from found) order by scope, key`;
const claimsOfScopeSql = `
  with found (key, n) as (
    select key, n from claim_keys where n <= ${indexedTo} and env = :env and scope = :scope and key > :key
    union all
    select key, n from claims where n > ${indexedTo} and env = :env and scope = :scope and key > :key
    order by key limit :limit)
  select ${claimColumns} from claims where n in (select n from found) order by key`;

// One probe for each path: "select distinct" walks every wait of the name, 11 ms at 100,000 of them.
const waitPathsSql = `
  with recursive
    awaited (path) as (
      select min(path) from waits indexed by waits_by_event where env = :env and event_name = :name
      union all
      select (select min(path) from waits indexed by waits_by_event
               where env = :env and event_name = :name and path > awaited.path)
        from awaited where awaited.path is not null),
    cancelling (path) as (
      select min(path) from cancels indexed by cancels_by_event where env = :env and event_name = :name
      union all
      select (select min(path) from cancels indexed by cancels_by_event
               where env = :env and event_name = :name and path > cancelling.path)
        from cancelling where cancelling.path is not null)
  select path from awaited where path is not null
  union select path from cancelling where path is not null
  order by path`;
const waitCandidatesSql = `
  select w.run_id, w.step_id, w.rest, ${eventColumns}
    from waits w indexed by waits_by_event
    join runs r on r.env = w.env and r.id = w.run_id
    join events e on e.env = r.env and e.id = r.event_id
   where w.env = ? and w.event_name = ? and w.path = ? and w.value = ? and w.stamp < ?`;

const countsSql = `
  select fn, sum(leased_by is not null) as running, sum(leased_by is null and due_at is null) as queued,
         sum(leased_by is null and due_at is not null and parked_at is null) as waiting,
         sum(leased_by is null and parked_at is not null) as parked,
         sum(leased_by is null and (due_at is null or due_at <= ?)) as due
    from jobs where env = ? and kind = 'run' group by fn`;

// Each half has its index; asked together the planner takes neither.
const oldestReadySql = `
  select rank as at from jobs indexed by jobs_ready
   where env = ? and leased_by is null and due_at is null and lane is null and kind = 'run' order by rank limit 1`;
const oldestInLaneSql = `
  select min(rank) as at from jobs indexed by jobs_lanes
   where env = ? and leased_by is null and due_at is null and lane is not null`;
const oldestTimerSql = `
  select due_at as at from jobs
   where env = ? and leased_by is null and due_at is not null and due_at <= ? and kind = 'run' order by due_at limit 1`;
const settingsSql = `
  select kind, name, value, version, changed_at as changedAt from settings where env = ? and kind = ? order by name`;
const settingEnvironmentsSql = "select distinct env from settings where kind = ? order by env";
const environmentsSql = "select distinct env from functions where archived_at is null order by env";

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };

export function readsOver(
  connection: Connection,
  at: () => Instant,
  findClaim: FindClaimRow = findBesideOwner(connection),
): Sync<StoreReads> {
  const db = new RuleDatabase(connection);
  const claim = (env: string, scope: string, key: string): ClaimRow | undefined => {
    const n = findClaim(env, scope, key);
    return n === undefined ? undefined : connection.one<ClaimRow>(claimSql, n);
  };
  const runs = (sql: string, ...params: Param[]) => connection.all<RunRow>(sql, ...params).map(readRun);
  const events = (sql: string, ...params: Param[]): Event[] => connection.all<EventRow>(sql, ...params).map(readEvent);
  return {
    functions: (env) => ({
      registration: driveAtOnce(registrationOf(db, env)),
      functions: connection.all<RegisteredFunction>(functionsSql, env),
    }),
    run: (env, runId) => {
      const row = driveAtOnce(findRun(db, env, runId));
      return row === undefined ? null : readRun(row);
    },
    runs: (env, filter: RunFilter) => listRuns(filter, env, runs),
    runMemo: (env, runId) => driveAtOnce(readMemo(db, env, runId)),
    event: (env, eventId) => {
      const row = driveAtOnce(findEvent(db, env, eventId));
      return row === undefined ? null : readEvent(row);
    },
    eventByCallerId: (env, callerId, scope) => {
      for (const each of scope === undefined ? eventIdScopes : [scope]) {
        const first = claim(env, each, callerId);
        const row = first === undefined ? undefined : driveAtOnce(findEvent(db, env, first.holder));
        if (row !== undefined) return readEvent(row);
      }
      return null;
    },
    events: (env, filter: EventFilter) =>
      filter.name === undefined
        ? events(eventsSql, env, filter.before ?? afterAll, filter.limit)
        : events(eventsByNameSql, env, filter.name, filter.before ?? afterAll, filter.limit),
    duplicatesOf: (env, eventId, limit) => events(duplicatesSql, env, eventId, limit),
    decisionsOfEvent: (env, eventId) => connection.all<DecisionRow>(selectDecisionsSql, env, eventId).map(readDecision),
    duplicatesOfRun: (env, runId, limit, after = "") =>
      connection.all<DecisionRow>(duplicatesOfRunSql, env, runId, after, limit).map(readDecision),
    claim: (env, scope, key) => {
      const row = claim(env, scope, key);
      return row === undefined ? null : readClaim(row);
    },
    claimNow: (env, scope, key) => {
      const row = claim(env, scope, key);
      const { now, windowNow, leaseNow } = at();
      const found = row === undefined ? null : readClaim(row);
      return { claim: found, now, windowNow: windowNow(found?.takenAt ?? now), leaseNow };
    },
    claims: (env, filter: ClaimFilter) => {
      const { scope, under = "", after, limit } = filter;
      const key = after?.key ?? "";
      return connection
        .find<ClaimRow>(
          scope === undefined ? claimsSql : claimsOfScopeSql,
          scope === undefined
            ? { env, scope: after?.scope ?? under, key, end: afterScopes(under), limit }
            : { env, scope, key, limit },
        )
        .map(readClaim);
    },
    waitPaths: (env, eventName) =>
      connection.find<{ path: string }>(waitPathsSql, { env, name: eventName }).map((row) => row.path),
    waitCandidates: (env, eventId, probes) => {
      const event = driveAtOnce(findEvent(db, env, eventId));
      if (event === undefined) return [];
      return [{ path: "", value: "" }, ...probes.filter((probe) => probe.path !== "")].flatMap(({ path, value }) =>
        connection
          .all<EventRow & { run_id: string; step_id: string; rest: string | null }>(
            waitCandidatesSql,
            env,
            event.name,
            path,
            value,
            event.stamp,
          )
          .map((row) => ({ runId: row.run_id, stepId: row.step_id, rest: row.rest, event: readEvent(row) })),
      );
    },
    cancelCandidates: (env, eventId, probes) => {
      const event = driveAtOnce(findEvent(db, env, eventId));
      return event === undefined ? [] : driveAtOnce(rulesMatching(db, env, event, probes));
    },
    crons: (env) => driveAtOnce(cronsIn(db, env)),
    limitUses: (env, limit) => limitUses(connection, env, limit),
    buffer: (env, fn, kind, key) => findBuffer(connection, env, fn, kind, key),
    pendingCounts: (env) => countPending(connection, env),
    counts: (env) => countJobs(connection, env, at().now),
    oldestDue: (env) => {
      const found = [
        connection.one<{ at: number }>(oldestReadySql, env),
        connection.one<{ at: number | null }>(oldestInLaneSql, env),
        connection.one<{ at: number }>(oldestTimerSql, env, at().now),
      ].flatMap((row) => (row === undefined || row.at === null ? [] : [row.at]));
      return found.length === 0 ? null : Math.min(...found);
    },
    settings: (env, kind) => connection.all<Setting>(settingsSql, env, kind),
    auditPage: (env, filter) => auditPage(connection, env, filter),
    ...alertReads(connection),
    ...countReads(connection),
    ...stepReads(connection),
    settingEnvironments: (kind) => connection.all<{ env: string }>(settingEnvironmentsSql, kind).map(({ env }) => env),
    environments: () => connection.all<{ env: string }>(environmentsSql).map(({ env }) => env),
    workers: () => listWorkers(connection),
    ...pagesOver(connection),
  };
}

function listRuns(
  filter: RunFilter,
  env: string,
  query: (sql: string, ...params: Param[]) => ReturnType<typeof readRun>[],
) {
  const page = (before: string, limit: number) => {
    if (filter.eventId !== undefined) return query(runsOfEventSql, env, filter.eventId, env, env, before, limit);
    if (isOpenState(filter.state)) return query(openRunsSql, env, before, limit);
    if (filter.fn !== undefined) return query(runsOfFunctionSql, env, filter.fn, before, limit);
    return query(runsSql, env, before, limit);
  };
  const wanted: ReturnType<typeof readRun>[] = [];
  let before = filter.before ?? afterAll;
  // What no index narrows is filtered page by page, so a rare state costs reads and never memory.
  const pageSize = Math.max(filter.limit, 100);
  while (wanted.length < filter.limit) {
    const rows = page(before, pageSize);
    for (const run of rows) {
      if (filter.fn !== undefined && run.fn !== filter.fn) continue;
      if (filter.state !== undefined && run.state !== filter.state) continue;
      wanted.push(run);
      if (wanted.length === filter.limit) break;
    }
    if (rows.length < pageSize) break;
    before = rows.at(-1)!.id;
  }
  return wanted;
}

const isOpenState = (state: RunState | undefined): boolean => state !== undefined && !isEnded(state);

function countJobs(connection: Connection, env: string, now: number): StoreCounts {
  const rows = connection.all<OpenCounts & { readonly fn: string }>(countsSql, now, env);
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
  return {
    queued: sum((row) => row.queued),
    running: sum((row) => row.running),
    waiting: sum((row) => row.waiting),
    parked: sum((row) => row.parked),
    dueByFunction: Object.fromEntries(rows.filter((row) => row.due > 0).map((row) => [row.fn, row.due])),
    byFunction: Object.fromEntries(rows.map(({ fn, ...counts }) => [fn, counts])),
  };
}
