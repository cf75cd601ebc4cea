// History a person no longer wants. An event goes together with its decisions and all its runs, reruns included, and only
// once nothing can ask for any of them: every run ended, every window closed, nothing held for a person.
// Steps go first: a run too large for one commit loses them over several, and its own row with the last.
import { eventIdScopes, functionScope } from "../../model/claim.ts";
import { type DecisionKind, isPending } from "../../model/decision.ts";
import { isOpen } from "../../model/window.ts";
import { type PruneAnswer, type PruneInput, prunedNothing } from "../prune.ts";
import { countAlerts, pruneAlerts } from "../rules/alerts.ts";
import { countAudit, pruneAudit } from "../rules/read-audit.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { ClaimIndex, FindClaimRow } from "./claim-index.ts";
import type { Connection } from "./connection.ts";
import { RuleDatabase } from "./rule-database.ts";
import type { Transaction } from "./transaction.ts";

const pageSql = `
  select id, caller_id as callerId, received_at as receivedAt from events
   where env = ? and id > ? order by id limit ?`;
const decisionsSql = "select kind, run_id as runId from decisions where env = ? and event_id = ?";
const runSql = `
  select id, fn, key, ended_at as endedAt, carried from runs where env = ? and id = ?`;
const rerunsSql = `
  select id, fn, key, ended_at as endedAt, carried from runs indexed by runs_by_root
   where env = ? and root_run_id = ? and rerun_of is not null`;
const claimSql = "select ends_at as endsAt, held from claims where n = ? and holder = ?";
const deliverySql = "select 1 from jobs where env = ? and id = 'deliver:' || ?";
const announceSql = "select 1 from jobs where env = ? and id = 'announce:' || ?";
const countStepsSql = "select count(*) as count from steps where env = ? and run_id = ?";
const countLogsSql = "select count(*) as count from run_logs where env = ? and run_id = ?";
const countAttemptsSql = "select count(*) as count from attempts where env = ? and run_id = ?";

const deleteStepsSql = `
  delete from steps where (env, run_id, step_id) in (
    select env, run_id, step_id from steps where env = ? and run_id = ? limit ?)`;
const deleteAttemptsSql = `
  delete from attempts where (env, run_id, step_id, attempt) in (
    select env, run_id, step_id, attempt from attempts where env = ? and run_id = ? limit ?)`;
const deleteLogsSql = `
  delete from run_logs where (env, run_id, part) in (
    select env, run_id, part from run_logs where env = ? and run_id = ? limit ?)`;
const carriedSql = `
  select e.id, e.caller_id as callerId, e.received_at as receivedAt, b.key
    from run_events b join events e on e.env = b.env and e.id = b.event_id where b.env = ? and b.run_id = ?`;
const deleteCarriedSql = "delete from run_events where env = ? and run_id = ?";
// At most a mebibyte for each run.
const deleteMetadataSql = "delete from metadata where env = ? and run_id = ?";
const deleteRunSql = "delete from runs where env = ? and id = ?";
const deleteDecisionsSql = "delete from decisions where env = ? and event_id = ?";
// At most ten for each event.
const deleteValuesSql = "delete from event_values where env = ? and event_id = ?";
const deleteEventSql = "delete from events where env = ? and id = ?";

// A page of events whose families are looked at in one commit: about a millisecond of reading.
const pageSize = 200;

interface EventRow {
  readonly id: string;
  readonly callerId: string | null;
  readonly receivedAt: number;
}

interface RunRow {
  readonly id: string;
  readonly fn: string;
  readonly key: string | null;
  readonly endedAt: number | null;
  readonly carried: number | null;
}

interface CarriedRow extends EventRow {
  readonly key: string | null;
}

interface Family {
  readonly event: EventRow;
  readonly runs: readonly RunRow[];
  readonly decisionCount: number;
}

type Counts = { -readonly [K in keyof PruneAnswer["deleted"]]: number };

export function pruneEvents(tx: Transaction, input: PruneInput): PruneAnswer {
  const { connection, at } = tx;
  const { env, max } = input;
  if (input.after === "") {
    const told = driveAtOnce(pruneAlerts(tx, env, input.before, max));
    if (told.alerts + told.pairs > 0) return { deleted: { ...prunedNothing, ...told }, kept: 0, after: "" };
  }
  const deleted: Counts = { ...prunedNothing };
  const page = readPage(connection, input, at.windowNow(0), tx.claims.find);
  let left = max;
  let after = input.after;
  for (const { event, family } of page.events) {
    if (family !== null) {
      for (const run of family.runs) {
        if (left === 0) break;
        const steps = connection.run(deleteStepsSql, env, run.id, left);
        const attempts = connection.run(deleteAttemptsSql, env, run.id, left - steps);
        deleted.steps += steps;
        deleted.attempts += attempts;
        const logs = connection.run(deleteLogsSql, env, run.id, left - steps - attempts);
        deleted.logs += logs;
        left -= steps + attempts + logs;
      }
      // The family's own rows go in one piece; when they do not fit, the next commit begins with them.
      const own = family.runs.length + family.decisionCount + 1;
      if (own > left && left < max) return { deleted, kept: page.keptBefore(event), after };
      for (const run of family.runs) {
        deleted.runs += connection.run(deleteRunSql, env, run.id);
        connection.run(deleteMetadataSql, env, run.id);
        if (run.carried !== null) connection.run(deleteCarriedSql, env, run.id);
      }
      deleted.decisions += connection.run(deleteDecisionsSql, env, event.id);
      deleted.events += connection.run(deleteEventSql, env, event.id);
      connection.run(deleteValuesSql, env, event.id);
      left = Math.max(0, left - own);
    }
    after = event.id;
  }
  if (!page.isLast) return { deleted, kept: page.kept, after };
  // Last, with what room is left: where there is none, or more than it takes, the next commit goes on with it.
  if (input.auditBefore !== undefined) deleted.audit = driveAtOnce(pruneAudit(tx, env, input.auditBefore, left));
  return { deleted, kept: page.kept, after: deleted.audit === left && input.auditBefore !== undefined ? after : null };
}

/** What pruning would delete, read page by page; writes nothing. Whoever asks for all pages loads the index once. */
export function countPrunable(
  connection: Connection,
  claims: ClaimIndex,
  input: Omit<PruneInput, "max">,
  windowNow: number,
): PruneAnswer {
  const { env } = input;
  const told = input.after === "" ? driveAtOnce(countAlerts(new RuleDatabase(connection), env, input.before)) : {};
  const deleted: Counts = { ...prunedNothing, ...told };
  const page = readPage(connection, input, windowNow, claims.find);
  for (const { family } of page.events) {
    if (family === null) continue;
    deleted.events += 1;
    deleted.runs += family.runs.length;
    deleted.decisions += family.decisionCount;
    for (const { id } of family.runs) {
      deleted.steps += connection.one<{ count: number }>(countStepsSql, env, id)!.count;
      deleted.attempts += connection.one<{ count: number }>(countAttemptsSql, env, id)!.count;
      deleted.logs += connection.one<{ count: number }>(countLogsSql, env, id)!.count;
    }
  }
  if (page.isLast && input.auditBefore !== undefined)
    deleted.audit = driveAtOnce(countAudit(new RuleDatabase(connection), env, input.auditBefore));
  return { deleted, kept: page.kept, after: page.isLast ? null : page.events.at(-1)!.event.id };
}

function readPage(connection: Connection, input: Omit<PruneInput, "max">, windowNow: number, find: FindClaimRow) {
  const { env, before } = input;
  const rows = connection.all<EventRow>(pageSql, env, input.after, pageSize);
  const isOld = (event: EventRow) => event.receivedAt < before;
  const events = rows.map((event) => ({
    event,
    family: isOld(event) ? familyOf(connection, input, event, windowNow, find) : null,
  }));
  const kept = events.filter(({ event, family }) => isOld(event) && family === null);
  return {
    events,
    kept: kept.length,
    keptBefore: ({ id }: EventRow) => kept.filter(({ event }) => event.id < id).length,
    // Ids follow time closely, not exactly: a whole page without an old event is the end of the old ones.
    isLast: rows.length < pageSize || !rows.some(isOld),
  };
}

/** Null while anything of the event may still be asked for. */
function familyOf(
  connection: Connection,
  { env, before }: Omit<PruneInput, "max">,
  event: EventRow,
  windowNow: number,
  find: FindClaimRow,
): Family | null {
  const isTaken = (scope: string, key: string | null, holder: string): boolean => {
    if (key === null) return false;
    const n = find(env, scope, key);
    if (n === undefined) return false;
    const claim = connection.one<{ endsAt: number; held: number }>(claimSql, n, holder);
    return claim !== undefined && isOpen({ endsAt: claim.endsAt, held: claim.held === 1 }, windowNow);
  };
  const isIdTaken = ({ callerId, id }: EventRow) => eventIdScopes.some((scope) => isTaken(scope, callerId, id));
  if (isIdTaken(event)) return null;
  if (connection.one(deliverySql, env, event.id) !== undefined) return null;
  const decisions = connection.all<{ kind: DecisionKind; runId: string | null }>(decisionsSql, env, event.id);
  if (decisions.some(isPending)) return null;
  const runs: RunRow[] = [];
  for (const { kind, runId } of decisions) {
    if (kind !== "started" || runId === null) continue;
    const run = connection.one<RunRow>(runSql, env, runId);
    if (run !== undefined) runs.push(run);
    runs.push(...connection.all<RunRow>(rerunsSql, env, runId));
  }
  for (const run of runs) {
    if (run.endedAt === null || run.endedAt >= before) return null;
    // Others are still to hear of its end.
    if (connection.one(announceSql, env, run.id) !== undefined) return null;
    if (isTaken(functionScope(run.fn), run.key, run.id)) return null;
    // A batch goes once all events it carries may go.
    const carried = run.carried === null ? [] : connection.all<CarriedRow>(carriedSql, env, run.id);
    for (const each of carried) {
      if (each.receivedAt >= before || isIdTaken(each)) return null;
      if (isTaken(functionScope(run.fn), each.key, run.id)) return null;
    }
  }
  return { event, runs, decisionCount: decisions.length };
}
