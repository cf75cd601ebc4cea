// History a person no longer wants. An event goes together with its decisions and all its runs, reruns included, and only
// once nothing can ask for any of them: every run ended, every window closed, nothing held for a person.
// Steps go first: a run too large for one commit loses them over several, and its own row with the last.
//
// Others commit meanwhile. So a family is judged, then its event, its runs and its keys are locked, then it is judged again by what
// is committed now: a rerun or a duplicate either came before, and keeps it, or waits for the locks and finds it gone. What somebody
// else has locked is kept, so pruning never waits for anybody.
import { type PruneAnswer, type PruneInput, prunedNothing } from "../prune.ts";
import { countAlerts, pruneAlerts } from "../rules/alerts.ts";
import { countAudit, pruneAudit } from "../rules/read-audit.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { claimName, type Family, findFamilies, type OldEvent } from "./find-families.ts";
import { RuleDatabase } from "./rule-database.ts";
import type { Transaction } from "./transaction.ts";

// A page of events whose families are looked at in one commit.
const pageSize = 200;
const pageSql = `
  select id, caller_id as "callerId", received_at as "receivedAt" from events
   where env = ? and id > ? order by id limit ${pageSize}`;
const countStepsSql = `
  select run_id as "runId", count(*) as count from steps where env = ? and run_id = any(?) group by run_id`;
const countAttemptsSql = `
  select run_id as "runId", count(*) as count from attempts where env = ? and run_id = any(?) group by run_id`;
const countLogsSql = `
  select run_id as "runId", count(*) as count from run_logs where env = ? and run_id = any(?) group by run_id`;

const lockEventsSql = "select id from events where env = ? and id = any(?) for update skip locked";
const lockRunsSql = "select id from runs where env = ? and id = any(?) for update skip locked";
const lockClaimsSql = `
  select c.scope, c.key
    from unnest(cast(:scopes as text[]), cast(:keys as text[])) as probe (scope, key)
   cross join lateral (select scope, key from claims
                        where env = :env and scope = probe.scope and key = probe.key limit 1 for update skip locked) c`;

const deleteStepsSql = "delete from steps where env = ? and run_id = any(?)";
const deleteSomeStepsSql = `
  delete from steps where env = :env and run_id = :run and step_id = any(array(
    select step_id from steps where env = :env and run_id = :run order by step_id limit :max))
  returning 1`;
const deleteAttemptsSql = "delete from attempts where env = ? and run_id = any(?)";
const deleteSomeAttemptsSql = `
  delete from attempts where env = :env and run_id = :run and (step_id, attempt) in (
    select step_id, attempt from attempts where env = :env and run_id = :run order by step_id, attempt limit :max)
  returning 1`;
const deleteLogsSql = "delete from run_logs where env = ? and run_id = any(?)";
const deleteSomeLogsSql = `
  delete from run_logs where env = :env and run_id = :run and part = any(array(
    select part from run_logs where env = :env and run_id = :run order by part limit :max))
  returning 1`;
const deleteCarriedSql = "delete from run_events where env = ? and run_id = any(?)";
// At most a mebibyte for each run.
const deleteMetadataSql = "delete from metadata where env = ? and run_id = any(?)";
const deleteRunsSql = "delete from runs where env = ? and id = any(?)";
const deleteDecisionsSql = "delete from decisions where env = ? and event_id = any(?)";
// At most ten for each event.
const deleteValuesSql = "delete from event_values where env = ? and event_id = any(?)";
const deleteEventsSql = "delete from events where env = ? and id = any(?)";

type Counts = { -readonly [K in keyof PruneAnswer["deleted"]]: number };

/** How many rows of a run go in this commit; `isAll` when none is left. */
interface Share {
  readonly runId: string;
  readonly count: number;
  readonly isAll: boolean;
}

/** What of a family goes in this commit. */
interface Portion {
  readonly family: Family;
  /** Runs no earlier family has: a batch is of many events and goes once. */
  readonly runIds: readonly string[];
  readonly steps: readonly Share[];
  readonly attempts: readonly Share[];
  readonly logs: readonly Share[];
  /** False for the last one if it does not fit: only steps and attempts go. */
  readonly isWhole: boolean;
}

export async function pruneEvents(tx: Pick<Transaction, "connection" | "at">, input: PruneInput): Promise<PruneAnswer> {
  const { connection, at } = tx;
  const { env, before } = input;
  if (input.after === "") {
    const told = await driveAwaited(pruneAlerts(new RuleDatabase(connection), env, before, input.max));
    if (told.alerts + told.pairs > 0) return { deleted: { ...prunedNothing, ...told }, kept: 0, after: "" };
  }
  const windowNow = at.windowNow(0);
  const page = await readPage(connection, input);
  const families = await findFamilies(connection, env, page.old, { before, windowNow });
  const portions = await measure(connection, env, page.old, families, input.max);
  const locked = await lock(connection, env, portions);
  const events = portions.filter(({ family }) => locked.has(family)).map(({ family }) => family.event);
  const still = await findFamilies(connection, env, events, { before, windowNow });
  const going = portionsStill(portions, still);
  const deleted = await deletePortions(connection, env, going);
  const last = portions.at(-1);
  if (last === undefined || last.isWhole) {
    const kept = page.old.length - going.length;
    if (!page.isLast) return { deleted, kept, after: page.events.at(-1)!.id };
    if (input.auditBefore === undefined) return { deleted, kept, after: null };
    // Last, with what room is left: where there is none, or more than it takes, the next commit goes on with it.
    const left = Math.max(0, input.max - Object.values(deleted).reduce((all, count) => all + count, 0));
    const audit = await driveAwaited(pruneAudit(new RuleDatabase(connection), env, input.auditBefore, left));
    return {
      deleted: { ...deleted, audit },
      kept,
      after: audit === left ? (page.events.at(-1)?.id ?? input.after) : null,
    };
  }
  // The family's own rows go in one piece; when they do not fit, the next commit begins with them. One that somebody else has locked
  // is passed by: to begin with it again could go on for as long as they do.
  const isBegun = going.at(-1) === last;
  const place = page.events.indexOf(last.family.event);
  const passed = page.events.slice(0, isBegun ? place : place + 1);
  const goneCount = isBegun ? going.length - 1 : going.length;
  return {
    deleted,
    kept: passed.filter((event) => page.old.includes(event)).length - goneCount,
    after: passed.at(-1)?.id ?? input.after,
  };
}

/** What pruning would delete, read page by page; writes nothing. */
export async function countPrunable(
  connection: Connection,
  input: Omit<PruneInput, "max">,
  windowNow: number,
): Promise<PruneAnswer> {
  const { env, before } = input;
  const page = await readPage(connection, input);
  const families = await findFamilies(connection, env, page.old, { before, windowNow });
  const portions = await measure(connection, env, page.old, families, Number.POSITIVE_INFINITY);
  const told = input.after === "" ? await driveAwaited(countAlerts(new RuleDatabase(connection), env, before)) : {};
  const deleted: Counts = { ...prunedNothing, ...told };
  const sum = (shares: readonly Share[]) => shares.reduce((total, { count }) => total + count, 0);
  for (const { family, runIds, steps, attempts, logs } of portions) {
    deleted.events += 1;
    deleted.runs += runIds.length;
    deleted.decisions += family.decisionCount;
    deleted.steps += sum(steps);
    deleted.attempts += sum(attempts);
    deleted.logs += sum(logs);
  }
  if (page.isLast && input.auditBefore !== undefined) {
    deleted.audit = await driveAwaited(countAudit(new RuleDatabase(connection), env, input.auditBefore));
  }
  const kept = page.old.length - portions.length;
  return { deleted, kept, after: page.isLast ? null : page.events.at(-1)!.id };
}

async function readPage(connection: Connection, { env, before, after }: Omit<PruneInput, "max">) {
  const events = await connection.all<OldEvent>(pageSql, env, after);
  const old = events.filter(({ receivedAt }) => receivedAt < before);
  // Ids follow time closely, not exactly: a whole page without an old event is the end of the old ones.
  return { events, old, isLast: events.length < pageSize || old.length === 0 };
}

/** How much of the families goes within `max` rows, in the order of their events. */
async function measure(
  connection: Connection,
  env: string,
  events: readonly OldEvent[],
  families: ReadonlyMap<string, Family>,
  max: number,
): Promise<Portion[]> {
  const runIds = [...new Set([...families.values()].flatMap(({ runs }) => runs.map(({ id }) => id)))];
  const [stepCounts, attemptCounts, logCounts] = await Promise.all([
    countByRun(connection, countStepsSql, env, runIds),
    countByRun(connection, countAttemptsSql, env, runIds),
    countByRun(connection, countLogsSql, env, runIds),
  ]);
  const portions: Portion[] = [];
  const seen = new Set<string>();
  let left = max;
  const take = (counts: ReadonlyMap<string, number>, runId: string): Share[] => {
    const all = counts.get(runId) ?? 0;
    const count = Math.min(all, left);
    left -= count;
    return count === 0 ? [] : [{ runId, count, isAll: count === all }];
  };
  for (const { id } of events) {
    const family = families.get(id);
    if (family === undefined) continue;
    const runIds = family.runs.map((run) => run.id).filter((runId) => !seen.has(runId));
    const steps: Share[] = [];
    const attempts: Share[] = [];
    const logs: Share[] = [];
    for (const runId of runIds) {
      seen.add(runId);
      steps.push(...take(stepCounts, runId));
      attempts.push(...take(attemptCounts, runId));
      logs.push(...take(logCounts, runId));
    }
    const own = runIds.length + family.decisionCount + 1;
    const isWhole = own <= left || left === max;
    portions.push({ family, runIds, steps, attempts, logs, isWhole });
    if (!isWhole) break;
    left = Math.max(0, left - own);
  }
  return portions;
}

async function countByRun(connection: Connection, sql: string, env: string, runIds: readonly string[]) {
  if (runIds.length === 0) return new Map<string, number>();
  const rows = await connection.all<{ runId: string; count: number }>(sql, env, runIds);
  return new Map(rows.map(({ runId, count }) => [runId, count]));
}

/** The families of which everything is locked now. */
async function lock(connection: Connection, env: string, portions: readonly Portion[]): Promise<Set<Family>> {
  const families = portions.map(({ family }) => family);
  if (families.length === 0) return new Set();
  const eventIds = families.map(({ event }) => event.id);
  const runIds = portions.flatMap((portion) => portion.runIds);
  const claims = families.flatMap((family) => family.claims);
  // Sent together, answered in order.
  const [eventRows, runRows, claimRows] = await Promise.all([
    connection.all<{ id: string }>(lockEventsSql, env, eventIds),
    runIds.length === 0 ? [] : connection.all<{ id: string }>(lockRunsSql, env, runIds),
    claims.length === 0
      ? []
      : connection.find<{ scope: string; key: string }>(lockClaimsSql, {
          env,
          scopes: claims.map(({ scope }) => scope),
          keys: claims.map(({ key }) => key),
        }),
  ]);
  const events = new Set(eventRows.map(({ id }) => id));
  const runs = new Set(runRows.map(({ id }) => id));
  const names = new Set(claimRows.map(claimName));
  return new Set(
    families.filter(
      (family) =>
        events.has(family.event.id) &&
        family.runs.every(({ id }) => runs.has(id)) &&
        family.claims.every((claim) => names.has(claimName(claim))),
    ),
  );
}

/** Those whose family is what it was, and whose runs all go: with them, or with an event before them. */
function portionsStill(portions: readonly Portion[], still: ReadonlyMap<string, Family>): Portion[] {
  const going: Portion[] = [];
  const runIds = new Set<string>();
  for (const portion of portions) {
    const family = still.get(portion.family.event.id);
    if (family === undefined) continue;
    const own = new Set(portion.runIds);
    if (!family.runs.every(({ id }) => own.has(id) || runIds.has(id))) continue;
    for (const id of own) runIds.add(id);
    going.push(portion);
  }
  return going;
}

async function deletePortions(connection: Connection, env: string, portions: readonly Portion[]): Promise<Counts> {
  const stepShares = portions.flatMap((portion) => portion.steps);
  const attemptShares = portions.flatMap((portion) => portion.attempts);
  const logShares = portions.flatMap((portion) => portion.logs);
  const whole = portions.filter(({ isWhole }) => isWhole);
  const runIds = whole.flatMap((portion) => portion.runIds);
  const eventIds = whole.map(({ family }) => family.event.id);
  const batchIds = whole.flatMap(({ family }) =>
    family.runs.filter(({ carried }) => carried !== null).map(({ id }) => id),
  );
  const remove = async (sql: string, ids: readonly string[]): Promise<number> =>
    ids.length === 0 ? 0 : connection.run(sql, env, ids);
  const allOf = (shares: readonly Share[]) => shares.filter(({ isAll }) => isAll).map(({ runId }) => runId);
  // There is one at most: behind it there is no room for another.
  const removePart = async (sql: string, shares: readonly Share[]): Promise<number> => {
    const part = shares.find(({ isAll }) => !isAll);
    if (part === undefined) return 0;
    return (await connection.find(sql, { env, run: part.runId, max: part.count })).length;
  };
  const [steps, someSteps, attempts, someAttempts, logs, someLogs, runs, decisions, events] = await Promise.all([
    remove(deleteStepsSql, allOf(stepShares)),
    removePart(deleteSomeStepsSql, stepShares),
    remove(deleteAttemptsSql, allOf(attemptShares)),
    removePart(deleteSomeAttemptsSql, attemptShares),
    remove(deleteLogsSql, allOf(logShares)),
    removePart(deleteSomeLogsSql, logShares),
    remove(deleteRunsSql, runIds),
    remove(deleteDecisionsSql, eventIds),
    remove(deleteEventsSql, eventIds),
    remove(deleteCarriedSql, batchIds),
    remove(deleteMetadataSql, runIds),
    remove(deleteValuesSql, eventIds),
  ]);
  return {
    ...prunedNothing,
    events,
    runs,
    steps: steps + someSteps,
    attempts: attempts + someAttempts,
    logs: logs + someLogs,
    decisions,
  };
}
