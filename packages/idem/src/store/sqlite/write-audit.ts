// What people did by hand: who, what, to which thing, when and why (store/audit.ts). An entry's id is its stamp, so a range of time is a
// range of ids.
import { type AuditAnswer, type AuditFilter, type AuditInput, type AuditRow, stampSlackMs } from "../audit.ts";
import { firstStampAt } from "../clock.ts";
import type { Page } from "../reads.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = "insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?)";

// What is asked for narrows; null for what is not.
const columns = "cast(id as text) as id, at, actor, action, subject, reason";
const fits = `id >= :floor and id < :before and at >= :since and at < :until
     and (:action is null or action = :action) and (:actor is null or actor = :actor)`;
const auditSql = `
  select ${columns} from audit where env = :env and ${fits} order by audit.id desc limit :limit`;
const auditByActionSql = `
  select ${columns} from audit indexed by audit_by_action
   where env = :env and action = :action and ${fits} order by audit.id desc limit :limit`;
const auditByActorSql = `
  select ${columns} from audit indexed by audit_by_actor
   where env = :env and actor = :actor and ${fits} order by audit.id desc limit :limit`;
const auditBySubjectSql = `
  select ${columns} from audit indexed by audit_by_subject
   where env = :env and subject = :subject and ${fits} order by audit.id desc limit :limit`;

const pruneSql = `
  delete from audit where env = ? and id in (select id from audit where env = ? and id < ? order by id limit ?)`;
const countSql = "select count(*) as count from audit where env = ? and id < ?";

export function writeAudit(
  tx: Transaction,
  env: string,
  { action, subject, reason, actor = "" }: Omit<AuditInput, "env">,
): void {
  tx.connection.run(insertAuditSql, env, tx.stamp(), tx.at.now, action, subject, reason, actor);
}

export function keepAudit(tx: Transaction, input: AuditInput): AuditAnswer {
  writeAudit(tx, input.env, input);
  return "kept";
}

export function auditPage(connection: Connection, env: string, filter: AuditFilter): Page<AuditRow, string> {
  const { action, actor, subject, since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
  const before = Number(filter.before ?? Number.MAX_SAFE_INTEGER);
  const last = filter.until === undefined ? Number.MAX_SAFE_INTEGER : firstStampAt(until + stampSlackMs);
  // A thing has the fewest entries, a kind of action the most.
  const sql =
    subject !== undefined
      ? auditBySubjectSql
      : actor !== undefined
        ? auditByActorSql
        : action !== undefined
          ? auditByActionSql
          : auditSql;
  const rows = connection.find<AuditRow>(sql, {
    env,
    floor: firstStampAt(since),
    before: Number.isSafeInteger(before) ? Math.min(before, last) : 0,
    since,
    until,
    action: action ?? null,
    actor: actor ?? null,
    ...(subject === undefined ? {} : { subject }),
    limit,
  });
  return { rows, next: rows.length < limit ? null : rows.at(-1)!.id };
}

/** Oldest first; how many went. */
export const pruneAudit = (connection: Connection, env: string, before: number, max: number): number =>
  connection.run(pruneSql, env, env, firstStampAt(before), max);

export const countAudit = (connection: Connection, env: string, before: number): number =>
  connection.one<{ count: number }>(countSql, env, firstStampAt(before))!.count;
