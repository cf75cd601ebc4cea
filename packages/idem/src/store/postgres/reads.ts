// Reads for people and tools: keyset pages, no cursor held across calls, nothing here decides anything. Each is one statement, or
// several of which a later one may see more than an earlier one without harm; only a run's memo wants one snapshot.
import { type Claim, eventIdScopes, type Instant } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import { isEnded, type Run, type RunState } from "../../model/run.ts";
import type { RegisteredFunction } from "../functions.ts";
import { afterAll } from "../id-times.ts";
import {
  afterScopes,
  type ClaimFilter,
  type ClaimNow,
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
  jobOfRunColumns,
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
import { driveAwaited } from "../rules/rule.ts";
import { cronsIn } from "../rules/tick-crons.ts";
import type { Setting } from "../settings.ts";
import type { WaitCandidate } from "../waits.ts";
import { alertReads } from "./alert-reads.ts";
import type { Connection, Param } from "./connection.ts";
import { countReads } from "./count-reads.ts";
import { selectDecisionsSql } from "./ingest-events.ts";
import { limitUses } from "./limit-uses.ts";
import { decisionPage, eventPage, runPage } from "./page-reads.ts";
import { countPending, findBuffer } from "./pending-reads.ts";
import { RuleDatabase } from "./rule-database.ts";
import { stepReads } from "./step-reads.ts";
import { indexable } from "./text.ts";
import { listWorkers } from "./worker-rows.ts";
import { auditPage } from "./write-audit.ts";

const functionsSql = `
  select fn, app, id, config, paused_at as "pausedAt" from functions
   where env = ? and archived_at is null order by fn`;

// The limits inside joins keep the planner from joining whole tables: it cannot know that a page is small (docs/reference/stores.md#plans).
const withJob = `left join lateral (select ${jobOfRunColumns} from jobs where env = r.env and id = r.id limit 1) j on true`;
const runsSql = `select ${runColumns} from runs r ${withJob} where r.env = ? and r.id < ? order by r.id desc limit ?`;
const runsOfFunctionSql = `
  select ${runColumns} from runs r ${withJob}
   where r.env = ? and r.fn = ? and r.id < ? order by r.id desc limit ?`;
// Open runs are few and have a job each; the queue finds them without reading history.
const openRunsSql = `
  select ${runColumns} from jobs j join lateral (select * from runs where env = j.env and id = j.id limit 1) r on true
   where j.env = ? and j.kind = 'run' and j.id < ? order by j.id desc limit ?`;
const runsOfEventSql = `
  with started as (select run_id from decisions where env = ? and event_id = ? and kind = 'started'),
       every as (select run_id from started
                 union all
                 select r.id from started s cross join lateral (
                   select id from runs where env = ? and root_run_id = s.run_id and rerun_of is not null offset 0) r)
  select ${runColumns} from every join runs r on r.env = ? and r.id = every.run_id ${withJob}
   where r.id < ? order by r.id desc limit ?`;

const eventsSql = `select ${eventColumns} from events e where e.env = ? and e.id < ? order by e.id desc limit ?`;
const eventsByNameSql = `
  select ${eventColumns} from events e where e.env = ? and e.name = ? and e.id < ? order by e.id desc limit ?`;
const duplicatesSql = `
  select ${eventColumns} from events e where e.env = ? and e.first_event_id = ? order by e.id limit ?`;
const eventByCallerIdSql = `
  select ${eventColumns}
    from claims c cross join lateral (select * from events where env = c.env and id = c.holder limit 1) e
   where c.env = ? and c.scope = ? and c.key = ? and c.asked > 0`;

const duplicatesOfRunSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and run_id = ? and event_id > ? and kind <> 'started' order by event_id limit ?`;

// A function key whose run has ended is settled; the claim itself is not written again for that (end-run.ts). A row that nobody
// asked for only keeps others waiting (claim-key.ts).
const selectClaims = `
  select c.scope, c.key, c.holder, c.fence, c.generation,
         case when c.state = 'in-flight' and ended.is_ended then 'settled' else c.state end as state,
         c.fingerprint, c.taken_at, c.lease_until, c.ends_at, c.held, c.asked, c.last_asked_at, c.outcome
    from claims c
    left join lateral (select ended_state is not null as is_ended from runs where env = c.env and id = c.holder limit 1) ended
      on true`;
const claimSql = `${selectClaims} where c.env = ? and c.scope = ? and c.key = ? and c.asked > 0`;
const claimsSql = `
  ${selectClaims}
   where c.env = :env and (c.scope, c.key) > (:scope, :key) and c.scope < :end and c.asked > 0
   order by c.scope, c.key limit :limit`;
const claimsOfScopeSql = `
  ${selectClaims}
   where c.env = :env and c.scope = :scope and c.key > :key and c.asked > 0
   order by c.key limit :limit`;

// One probe for each path: "select distinct" walks every wait of the name, 11 ms at 100,000 of them.
const waitPathsSql = `
  with recursive
    awaited (path) as (
      select min(path) from waits where env = :env and event_name = :name
      union all
      select (select min(path) from waits where env = :env and event_name = :name and path > awaited.path)
        from awaited where awaited.path is not null),
    cancelling (path) as (
      select min(path) from cancels where env = :env and event_name = :name
      union all
      select (select min(path) from cancels where env = :env and event_name = :name and path > cancelling.path)
        from cancelling where cancelling.path is not null)
  select path from awaited where path is not null
  union select path from cancelling where path is not null
  order by path`;
// "offset 0" has the waits of each probe looked up by all that is known of them, also before the table has statistics.
const waitCandidatesSql = `
  select w.run_id, w.step_id, w.rest, ${eventColumns}
    from events received
   cross join unnest(cast(:paths as text[]), cast(:values as text[])) as probe (path, value)
   cross join lateral (select run_id, step_id, rest, stamp from waits
                        where env = received.env and event_name = received.name and path = probe.path
                          and value = probe.value and stamp < received.stamp offset 0) w
   cross join lateral (select event_id from runs where env = received.env and id = w.run_id limit 1) r
   cross join lateral (select * from events where env = received.env and id = r.event_id limit 1) e
   where received.env = :env and received.id = :event
   order by w.stamp`;

const countsSql = `
  select fn, count(*) filter (where leased_by is not null) as running,
         count(*) filter (where leased_by is null and due_at is null) as queued,
         count(*) filter (where leased_by is null and due_at is not null and parked_at is null) as waiting,
         count(*) filter (where leased_by is null and parked_at is not null) as parked,
         count(*) filter (where leased_by is null and (due_at is null or due_at <= ?)) as due
    from jobs where env = ? and kind = 'run' group by fn`;

// Each part has its index; asked together the planner takes none. Null where there is nothing, which "least" passes over.
const oldestDueSql = `
  select least(
    (select rank from jobs
      where env = :env and leased_by is null and due_at is null and lane is null and kind = 'run' order by rank limit 1),
    (select min(rank) from jobs where env = :env and leased_by is null and due_at is null and lane is not null),
    (select due_at from jobs
      where env = :env and leased_by is null and due_at is not null and due_at <= :now and kind = 'run'
      order by due_at limit 1)) as at`;
const settingsSql = `
  select kind, name, value, version, changed_at as "changedAt" from settings where env = ? and kind = ? order by name`;
const settingEnvironmentsSql = "select distinct env from settings where kind = ? order by env";
const environmentsSql = "select distinct env from functions where archived_at is null order by env";

export function readsOver(connection: Connection, at: () => Promise<Instant>): StoreReads {
  const db = new RuleDatabase(connection);
  const events = async (sql: string, ...params: Param[]): Promise<Event[]> =>
    (await connection.all<EventRow>(sql, ...params)).map(readEvent);
  const decisions = async (sql: string, ...params: Param[]) =>
    (await connection.all<DecisionRow>(sql, ...params)).map(readDecision);
  return {
    functions: (env) => readFunctions(connection, env),
    run: async (env, runId) => {
      const row = await driveAwaited(findRun(db, env, runId));
      return row === undefined ? null : readRun(row);
    },
    runs: (env, filter) => listRuns(connection, env, filter),
    runMemo: (env, runId) => driveAwaited(readMemo(db, env, runId)),
    event: async (env, eventId) => {
      const row = await driveAwaited(findEvent(db, env, eventId));
      return row === undefined ? null : readEvent(row);
    },
    eventByCallerId: async (env, callerId, scope) => {
      for (const each of scope === undefined ? eventIdScopes : [scope]) {
        const [found] = await events(eventByCallerIdSql, env, each, indexable(callerId));
        if (found !== undefined) return found;
      }
      return null;
    },
    events: (env, { name, before = afterAll, limit }: EventFilter) =>
      name === undefined ? events(eventsSql, env, before, limit) : events(eventsByNameSql, env, name, before, limit),
    duplicatesOf: (env, eventId, limit) => events(duplicatesSql, env, eventId, limit),
    decisionsOfEvent: (env, eventId) => decisions(selectDecisionsSql, env, eventId),
    duplicatesOfRun: (env, runId, limit, after = "") => decisions(duplicatesOfRunSql, env, runId, after, limit),
    claim: (env, scope, key) => findClaim(connection, env, scope, key),
    claimNow: async (env, scope, key) => {
      const read = await at();
      return claimAt(await findClaim(connection, env, scope, key), read);
    },
    claims: async (env, { scope, under = "", after, limit }: ClaimFilter) => {
      const key = after?.key ?? "";
      const rows = await connection.find<ClaimRow>(
        scope === undefined ? claimsSql : claimsOfScopeSql,
        scope === undefined
          ? { env, scope: after?.scope ?? under, key, end: afterScopes(under), limit }
          : { env, scope, key, limit },
      );
      return rows.map(readClaim);
    },
    waitPaths: async (env, eventName) =>
      (await connection.find<{ path: string }>(waitPathsSql, { env, name: eventName })).map(({ path }) => path),
    waitCandidates: (env, eventId, probes) => waitCandidates(connection, env, eventId, probes),
    cancelCandidates: async (env, eventId, probes) => {
      const event = await driveAwaited(findEvent(db, env, eventId));
      return event === undefined ? [] : driveAwaited(rulesMatching(db, env, event, probes));
    },
    crons: (env) => driveAwaited(cronsIn(db, env)),
    limitUses: (env, limit) => limitUses(connection, env, limit),
    buffer: (env, fn, kind, key) => findBuffer(connection, env, fn, kind, key),
    pendingCounts: (env) => countPending(connection, env),
    counts: async (env) => countJobs(connection, env, (await at()).now),
    oldestDue: async (env) =>
      (await connection.find<{ at: number | null }>(oldestDueSql, { env, now: (await at()).now }))[0]!.at,
    settings: (env, kind) => connection.all<Setting>(settingsSql, env, kind),
    auditPage: (env, filter) => auditPage(connection, env, filter),
    ...alertReads(connection),
    ...countReads(connection),
    ...stepReads(connection),
    settingEnvironments: async (kind) =>
      (await connection.all<{ env: string }>(settingEnvironmentsSql, kind)).map(({ env }) => env),
    environments: async () => (await connection.all<{ env: string }>(environmentsSql)).map(({ env }) => env),
    workers: () => listWorkers(connection),
    runPage: (env, filter) => runPage(connection, env, filter),
    eventPage: (env, filter) => eventPage(connection, env, filter),
    decisionPage: (env, filter) => decisionPage(connection, env, filter),
  };
}

export async function findClaim(
  connection: Connection,
  env: string,
  scope: string,
  key: string,
): Promise<Claim | null> {
  const row = await connection.one<ClaimRow>(claimSql, env, scope, indexable(key));
  return row === undefined ? null : readClaim(row);
}

/** The instant is not after the claim was read: what looks dead or over by it is. */
export const claimAt = (claim: Claim | null, { now, windowNow, leaseNow }: Instant): ClaimNow => ({
  claim,
  now,
  windowNow: windowNow(claim?.takenAt ?? now),
  leaseNow,
});

async function readFunctions(connection: Connection, env: string) {
  // In this order: newer functions under an older number are read again when somebody decides by them; the other way round an old
  // picture would pass for the newest.
  const registration = await driveAwaited(registrationOf(new RuleDatabase(connection), env));
  return { registration, functions: await connection.all<RegisteredFunction>(functionsSql, env) };
}

async function waitCandidates(
  connection: Connection,
  env: string,
  eventId: string,
  probes: readonly { readonly path: string; readonly value: string }[],
): Promise<WaitCandidate[]> {
  const asked = [{ path: "", value: "" }, ...probes.filter(({ path }) => path !== "")];
  const rows = await connection.find<EventRow & { run_id: string; step_id: string; rest: string | null }>(
    waitCandidatesSql,
    { env, event: eventId, paths: asked.map(({ path }) => path), values: asked.map(({ value }) => indexable(value)) },
  );
  return rows.map((row) => ({ runId: row.run_id, stepId: row.step_id, rest: row.rest, event: readEvent(row) }));
}

async function listRuns(connection: Connection, env: string, filter: RunFilter): Promise<Run[]> {
  const query = async (sql: string, ...params: Param[]) => (await connection.all<RunRow>(sql, ...params)).map(readRun);
  const page = (before: string, limit: number) => {
    if (filter.eventId !== undefined) return query(runsOfEventSql, env, filter.eventId, env, env, before, limit);
    if (isOpenState(filter.state)) return query(openRunsSql, env, before, limit);
    if (filter.fn !== undefined) return query(runsOfFunctionSql, env, filter.fn, before, limit);
    return query(runsSql, env, before, limit);
  };
  const wanted: Run[] = [];
  let before = filter.before ?? afterAll;
  // What no index narrows is filtered page by page, so a rare state costs reads and never memory.
  const pageSize = Math.max(filter.limit, 100);
  while (wanted.length < filter.limit) {
    const rows = await page(before, pageSize);
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

async function countJobs(connection: Connection, env: string, now: number): Promise<StoreCounts> {
  const rows = await connection.all<OpenCounts & { readonly fn: string }>(countsSql, now, env);
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
