// Reads for people and tools: keyset pages, no cursor held across calls, nothing here decides anything. Each is one statement, or
// several of which a later one may see more than an earlier one without harm; only a run's memo wants one snapshot.
import { eventIdScopes, type Instant } from "../../model/claim.ts";
import type { Decision, DecisionKind } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import { runLogBytesMax } from "../../model/log-line.ts";
import { isEnded, type Run } from "../../model/run.ts";
import { type Alert, type AlertPair, type Arrivals, arrivalsOf, type RadarPosition } from "../alerts.ts";
import { afterWords, type FoundValue } from "../event-values.ts";
import type { BufferUse, LimitUse } from "../flow.ts";
import type { RegisteredFunction } from "../functions.ts";
import { afterAll } from "../id-times.ts";
import type { Metadata } from "../metadata.ts";
import {
  afterScopes,
  type ClaimNow,
  type HeldRun,
  type Line,
  type OpenSlots,
  type RunFilter,
  type StoreCounts,
  type StoreReads,
} from "../reads.ts";
import {
  alertColumns,
  boundedEventColumns,
  type ClaimRow,
  type DecisionRow,
  decisionColumns,
  type EventRow,
  eventColumns,
  type RunRow,
  readClaim,
  readDecision,
  readEvent,
  readRun,
} from "../rows.ts";
import { limitKind, type Setting } from "../settings.ts";
import type { NodeRole, WorkerRow } from "../sharing.ts";
import { givenOf, type LastOutcome, type StepGiven } from "../steps.ts";
import type { WaitCandidate } from "../waits.ts";
import { awaitedNames } from "./awaited-names.ts";
import { rulesMatching } from "./cancel-rules.ts";
import { endCounts } from "./count-ends.ts";
import {
  eventNames,
  groupRuns,
  hourCounts,
  lastFailures,
  liveCounts,
  runPayloads,
  runStarts,
  slips,
} from "./count-reads.ts";
import type { Database, Param } from "./database.ts";
import { decisionPage, eventPage, runPage } from "./page-reads.ts";
import { readChannels, readMessages } from "./publish-messages.ts";
import { auditPage } from "./read-audit.ts";
import { findEvent, findRun, readMemo } from "./read-memo.ts";
import { registrationOf } from "./register-functions.ts";
import type { Asked, Rule } from "./rule.ts";
import { cronsIn } from "./tick-crons.ts";

/** A database with what only reads need. */
export interface ReadDatabase extends Database {
  /** Not after what is read next. */
  instant(): Asked<Instant>;
  claim(env: string, scope: string, key: string): Asked<ClaimRow | undefined>;
  waitCandidates(env: string, eventId: string, probes: readonly Probe[]): Asked<WaitCandidateRow[]>;
  limitUses(env: string, limit: number): Asked<LimitUse[]>;
}

export interface Probe {
  readonly path: string;
  readonly value: string;
}

export type WaitCandidateRow = EventRow & { run_id: string; step_id: string; rest: string | null };

/** With the probe of waits for the event whatever is in it. */
export const allProbes = (probes: readonly Probe[]): readonly Probe[] => [
  { path: "", value: "" },
  ...probes.filter(({ path }) => path !== ""),
];

const functionsSql = `
  select fn, app, id, config, paused_at as "pausedAt",
         (select value from settings s where s.env = f.env and s.kind = '${limitKind}' and s.name = f.fn) as limits
    from functions f where env = ? and archived_at is null order by fn`;
const eventsSql = `select ${eventColumns} from events e where e.env = ? and e.id < ? order by e.id desc limit ?`;
const eventsByNameSql = `
  select ${eventColumns} from events e where e.env = ? and e.name = ? and e.id < ? order by e.id desc limit ?`;
const decisionsOfEventSql = `select ${decisionColumns} from decisions d where d.env = ? and d.event_id = ? order by d.fn`;
const bufferSql = `
  select kind, count, due_at as "dueAt", event_id as "newestEventId"
    from buffers where env = ? and fn = ? and kind = ? and key = ?`;
const logBytesSql = "select log_bytes as bytes from runs where env = ? and id = ?";
const logSql = "select lines from run_logs where env = ? and run_id = ?";
const settingsSql = `
  select kind, name, value, version, changed_at as "changedAt" from settings where env = ? and kind = ? order by name`;
const valueColumns = 'event_id as "eventId", name, path, value';
const valuesSql = `
  select ${valueColumns} from event_values where env = ? and word = ? order by event_id desc limit ?`;
const valuesBeginningSql = `
  select ${valueColumns} from event_values where env = ? and word > ? and word < ? order by word, event_id limit ?`;
const heldSql = `
  select j.leased_by as worker, j.fence,
         (select count(*) from steps s where s.env = j.env and s.run_id = j.id) as "stepCount",
         (select count(*) from steps s where s.env = j.env and s.run_id = j.id and s.kind = 'defer') as "deferCount",
         (select coalesce(sum(octet_length(s.json)), 0) from steps s where s.env = j.env and s.run_id = j.id) as bytes
    from jobs j where j.env = ? and j.id = ? and j.leased_by is not null`;
const metadataSql = `
  select step_id as "stepId", kind, value, changed_at as "changedAt" from metadata
   where env = ? and run_id = ? order by step_id, kind`;
const settingEnvironmentsSql = "select distinct env from settings where kind = ? order by env";
const environmentsSql = "select distinct env from functions where archived_at is null order by env";
// A scan of open work counts what they hold: nobody asks for it more than a few times a second.
const workersSql = (leasedIn: "" | "and env = ?") => `
  select w.id, w.node, w.version, w.role, w.started_at as "startedAt", w.beat_at as "beatAt", w.until,
         w.dead_at as "deadAt", coalesce(held.count, 0) as leased
    from workers w
    left join (select leased_by, count(*) as count from jobs where leased_by is not null ${leasedIn} group by leased_by) held
      on held.leased_by = w.id
   order by w.id`;
const workersOfAllSql = workersSql("");
const workersInSql = workersSql("and env = ?");

// By run, so that each is a range of its table's own tree: at most as many rows as a run may have steps.
const givenSql = `
  select found.step_id as "stepId", case when octet_length(found.input) <= :max then found.input end as input,
         octet_length(found.input) as "inputBytes", found.child_run_id as "childRunId"
    from (select 0 as place, stamp, step_id, input, cast(null as text) as child_run_id
            from attempts where env = :env and run_id = :run and input is not null
          union all
          select 1, stamp, step_id, input, child_run_id
            from waits where env = :env and run_id = :run and (input is not null or child_run_id is not null)
          union all
          select 2, stamp, step_id, input, child_run_id
            from steps where env = :env and run_id = :run and (input is not null or child_run_id is not null)) found
   order by found.place, found.stamp`;
const inputSql = `
  select found.input
    from (select 0 as place, attempt as n, input from attempts where env = :env and run_id = :run and step_id = :step
          union all
          select 1, 0, input from waits where env = :env and run_id = :run and step_id = :step
          union all
          select 2, 0, input from steps where env = :env and run_id = :run and step_id = :step) found
   order by found.place desc, found.n desc limit 1`;

// Alerts are few: one for each kind of thing and function.
const alertsSql = `
  select ${alertColumns} from alerts
   where env = :env and id < :before and (cast(:state as text) is null or state = :state)
     and (cast(:fn as text) is null or fn = :fn)
   order by id desc limit :limit`;
const alertSql = `select ${alertColumns} from alerts where env = ? and id = ?`;
const pairsSql = `
  select entity, first_id as "firstId", later_id as "laterId", at from alert_pairs
   where env = ? and alert_id = ? and later_id < ? order by later_id desc limit ?`;
const openAlertsSql = "select count(*) as count from alerts where env = ? and state = 'open'";
const positionSql = "select position, version from radar_positions where env = ?";
const arrivedSql = `
  select ${boundedEventColumns} from events e where e.env = ? and e.id > ? and e.id < ? order by e.id limit ?`;
const decidedSql = `
  select ${decisionColumns} from decisions d
   where d.env = ? and d.event_id >= ? and d.event_id <= ? order by d.event_id, d.fn`;

type Reads = {
  readonly [K in keyof StoreReads]: (
    db: ReadDatabase,
    ...input: Parameters<StoreReads[K]>
  ) => Asked<Awaited<ReturnType<StoreReads[K]>>>;
};

export const reads: Reads = {
  *now(db) {
    return (yield* db.instant()).now;
  },
  *functions(db, env) {
    // In this order: newer functions under an older number are read again when somebody decides by them; the other way round an old
    // picture would pass for the newest.
    const registration = yield* registrationOf(db, env);
    return { registration, functions: yield* db.all<RegisteredFunction>(functionsSql, env) };
  },
  *run(db, env, runId) {
    const row = yield* findRun(db, env, runId);
    return row === undefined ? null : readRun(row);
  },
  runs: listRuns,
  runMemo: readMemo,
  runHistory: readMemo,
  *event(db, env, eventId) {
    const row = yield* findEvent(db, env, eventId);
    return row === undefined ? null : readEvent(row);
  },
  *eventByCallerId(db, env, callerId, scope) {
    for (const each of scope === undefined ? eventIdScopes : [scope]) {
      const first = yield* db.claim(env, each, callerId);
      const row = first === undefined ? undefined : yield* findEvent(db, env, first.holder);
      if (row !== undefined) return readEvent(row);
    }
    return null;
  },
  events: (db, env, { name, before = afterAll, limit }) =>
    name === undefined
      ? events(db, eventsSql, env, before, limit)
      : events(db, eventsByNameSql, env, name, before, limit),
  duplicatesOf: (db, env, eventId, limit) => events(db, db.sql.lists.duplicates, env, eventId, limit),
  decisionsOfEvent: (db, env, eventId) => decisions(db, decisionsOfEventSql, env, eventId),
  *decisionsOfEvents(db, env, eventIds) {
    const found = yield* db.find<DecisionRow>(db.sql.lists.decisionsOfEvents, { env, ids: db.list(eventIds) });
    const byEvent = new Map(eventIds.map((id): [string, Decision[]] => [id, []]));
    for (const row of found) byEvent.get(row.event_id)?.push(readDecision(row));
    return eventIds.map((id) => byEvent.get(id)!);
  },
  duplicatesOfRun: (db, env, runId, limit, after = "") =>
    decisions(db, db.sql.lists.duplicatesOfRun, env, runId, after, limit),
  *claim(db, env, scope, key) {
    const row = yield* db.claim(env, scope, key);
    return row === undefined ? null : readClaim(row);
  },
  *claimNow(db, env, scope, key) {
    const at = yield* db.instant();
    return claimAt(yield* db.claim(env, scope, key), at);
  },
  *claims(db, env, { scope, under = "", after, limit }) {
    const key = after?.key ?? "";
    const { lists } = db.sql;
    const rows = yield* scope === undefined
      ? db.find<ClaimRow>(lists.claims, { env, scope: after?.scope ?? under, key, end: afterScopes(under), limit })
      : db.find<ClaimRow>(lists.claimsOfScope, { env, scope, key, limit });
    return rows.map(readClaim);
  },
  *waitPaths(db, env, eventName) {
    const rows = yield* db.find<{ path: string }>(db.sql.lists.waitPaths, { env, name: eventName });
    return rows.map(({ path }) => path);
  },
  awaitedNames,
  *waitCandidates(db, env, eventId, probes) {
    const rows = yield* db.waitCandidates(env, eventId, allProbes(probes));
    return rows.map(
      (row): WaitCandidate => ({ runId: row.run_id, stepId: row.step_id, rest: row.rest, event: readEvent(row) }),
    );
  },
  *cancelCandidates(db, env, eventId, probes) {
    const event = yield* findEvent(db, env, eventId);
    return event === undefined ? [] : yield* rulesMatching(db, env, event, probes);
  },
  crons: cronsIn,
  limitUses: (db, env, limit) => db.limitUses(env, limit),
  *buffer(db, env, fn, kind, key) {
    return (yield* db.one<BufferUse>(bufferSql, env, fn, kind, key)) ?? null;
  },
  *pendingCounts(db, env) {
    const rows = yield* db.all<{ kind: DecisionKind; count: number }>(db.sql.lists.pendingCounts, env);
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  },
  counts: countJobs,
  lines: (db, env, { fn, limit }) =>
    db.find<Line>(linesSql, { env, fn: fn ?? null, byLane: fn === undefined ? 0 : 1, limit }),
  *oldestDue(db, env) {
    const { now } = yield* db.instant();
    return (yield* db.find<{ at: number | null }>(db.sql.lists.oldestDue, { env, now }))[0]!.at;
  },
  *held(db, env, runId) {
    return (yield* db.one<HeldRun>(heldSql, env, runId)) ?? null;
  },
  valuesFound: (db, env, { word, isBeginning, limit }) =>
    isBeginning === true
      ? db.all<FoundValue>(valuesBeginningSql, env, word, afterWords(word), limit)
      : db.all<FoundValue>(valuesSql, env, word, limit),
  channels: readChannels,
  messages: readMessages,
  metadata: (db, env, runId) => db.all<Metadata>(metadataSql, env, runId),
  settings: (db, env, kind) => db.all<Setting>(settingsSql, env, kind),
  auditPage,
  alerts: (db, env, { state, fn, before, limit }) =>
    db.find<Alert>(alertsSql, { env, limit, state: state ?? null, fn: fn ?? null, before: before ?? afterAll }),
  *alert(db, env, id) {
    return (yield* db.one<Alert>(alertSql, env, id)) ?? null;
  },
  alertPairs: (db, env, id, { before, limit }) => db.all<AlertPair>(pairsSql, env, id, before ?? afterAll, limit),
  *openAlertCount(db, env) {
    return (yield* db.one<{ count: number }>(openAlertsSql, env))!.count;
  },
  *radarPosition(db, env) {
    return (yield* db.one<RadarPosition>(positionSql, env)) ?? null;
  },
  /** One after the other: an event and its decisions are one commit, so a read that sees the one sees the others. */
  *arrivals(db, env, { after, before, limit }): Rule<Arrivals> {
    const arrived = yield* events(db, arrivedSql, env, after, before, limit);
    if (arrived.length === 0) return { rows: [], firsts: [] };
    const decided = yield* decisions(db, decidedSql, env, arrived[0]!.id, arrived.at(-1)!.id);
    const { rows, firstIds } = arrivalsOf(arrived, decided);
    const firsts = firstIds.length === 0 ? [] : yield* events(db, db.sql.lists.boundedEvents, env, db.list(firstIds));
    return { rows, firsts };
  },
  hourCounts,
  endCounts,
  liveCounts,
  slips,
  groupRuns,
  runStarts,
  eventNames,
  runPayloads,
  lastFailures,
  *stepInputs(db, env, runId, bytesMax) {
    return givenOf(yield* db.find<StepGiven>(givenSql, { env, run: runId, max: bytesMax }));
  },
  *stepInput(db, env, runId, stepId) {
    const found = yield* db.find<{ input: string | null }>(inputSql, { env, run: runId, step: stepId });
    return found[0]?.input ?? null;
  },
  *runLog(db, env, runId) {
    const run = yield* db.one<{ bytes: number }>(logBytesSql, env, runId);
    if (run === undefined) return null;
    const parts = run.bytes === 0 ? [] : yield* db.all<{ lines: string }>(logSql, env, runId);
    return { parts: parts.map(({ lines }) => lines), isFull: run.bytes > runLogBytesMax };
  },
  lastOutcomes: (db, env, runIds) => db.find<LastOutcome>(db.sql.lists.lastOutcomes, { env, ids: db.list(runIds) }),
  *settingEnvironments(db, kind) {
    return (yield* db.all<{ env: string }>(settingEnvironmentsSql, kind)).map(({ env }) => env);
  },
  *environments(db) {
    return (yield* db.all<{ env: string }>(environmentsSql)).map(({ env }) => env);
  },
  *workers(db, leasedIn) {
    const rows = yield* db.all<Omit<WorkerRow, "isDead" | "role"> & { role: NodeRole | null; deadAt: number | null }>(
      leasedIn === undefined ? workersOfAllSql : workersInSql,
      ...(leasedIn === undefined ? [] : [leasedIn]),
    );
    return rows.map(({ deadAt, ...row }) => ({ ...row, isDead: deadAt !== null }));
  },
  runPage,
  eventPage,
  decisionPage,
};

/** The instant is not after the claim was read: what looks dead or over by it is. */
export function claimAt(row: ClaimRow | undefined, { now, windowNow, leaseNow }: Instant): ClaimNow {
  const claim = row === undefined ? null : readClaim(row);
  return { claim, now, windowNow: windowNow(claim?.takenAt ?? now), leaseNow };
}

/** Each as the call that its database makes of it. */
export function readCalls(db: ReadDatabase, drive: (asked: Asked<unknown>) => unknown) {
  const called = (rule: (db: ReadDatabase, ...input: readonly unknown[]) => Asked<unknown>) => {
    return (...input: readonly unknown[]) => drive(rule(db, ...input));
  };
  const calls = Object.entries(reads).map(([name, rule]) => [name, called(rule as Parameters<typeof called>[0])]);
  return Object.fromEntries(calls) as Record<keyof StoreReads, (...input: readonly unknown[]) => unknown>;
}

function* events(db: Database, sql: string, ...params: Param[]): Rule<Event[]> {
  return (yield* db.all<EventRow>(sql, ...params)).map(readEvent);
}

function* decisions(db: Database, sql: string, ...params: Param[]): Rule<Decision[]> {
  return (yield* db.all<DecisionRow>(sql, ...params)).map(readDecision);
}

function* listRuns(db: Database, env: string, filter: RunFilter): Rule<Run[]> {
  const { fn, state, eventId, limit } = filter;
  const { lists } = db.sql;
  const page = (before: string, rows: number) => {
    if (eventId !== undefined) return db.all<RunRow>(lists.runsOfEvent, env, eventId, env, env, before, rows);
    if (state !== undefined && !isEnded(state)) return db.all<RunRow>(lists.openRuns, env, before, rows);
    if (fn !== undefined) return db.all<RunRow>(lists.runsOfFunction, env, fn, before, rows);
    return db.all<RunRow>(lists.runs, env, before, rows);
  };
  const wanted: Run[] = [];
  let before = filter.before ?? afterAll;
  // Filters without an index go page by page, so a rare state costs reads and never memory.
  const pageSize = Math.max(limit, 100);
  while (wanted.length < limit) {
    const rows = yield* page(before, pageSize);
    for (const run of rows.map(readRun)) {
      if (fn !== undefined && run.fn !== fn) continue;
      if (state !== undefined && run.state !== state) continue;
      wanted.push(run);
      if (wanted.length === limit) break;
    }
    if (rows.length < pageSize) break;
    before = rows.at(-1)!.id;
  }
  return wanted;
}

// All open work is looked at, as it is to be counted.
const linesSql = `
  select fn, case when :byLane = 1 then lane end as lane,
         sum(case when leased_by is null then 1 else 0 end) as queued, sum(case when leased_by is null then 0 else 1 end) as running,
         min(case when leased_by is null then id end) as "oldestId",
         sum(case when leased_by is null then 0 else beside_1 end) as beside1,
         sum(case when leased_by is null then 0 else beside_2 end) as beside2
    from jobs
   where env = :env and kind = 'run' and (leased_by is not null or due_at is null) and (cast(:fn as text) is null or fn = :fn)
   group by 1, 2 order by 3 desc, 4 desc, 1, 2 limit :limit`;

function* countJobs(db: ReadDatabase, env: string): Rule<StoreCounts> {
  const { now } = yield* db.instant();
  const rows = yield* db.all<OpenSlots & { readonly fn: string }>(db.sql.lists.openCounts, now, env);
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
