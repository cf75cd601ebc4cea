// The audit, kept, read and let go of (store/audit.ts). An entry's id is or begins with its stamp, so a range of time is a
// range of ids.
import { type AuditAnswer, type AuditFilter, type AuditInput, type AuditRow, stampSlackMs } from "../audit.ts";
import type { Page } from "../reads.ts";
import type { Database, RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const countSql = "select count(*) as count from audit where env = ? and id < ?";

// biome-ignore lint/correctness/useYield: nothing is asked, and it is an operation like the others.
export function* keepAudit(tx: RuleTransaction, input: AuditInput): Rule<AuditAnswer> {
  tx.audit(input.env, input);
  return "kept";
}

export function* auditPage(db: Database, env: string, filter: AuditFilter): Rule<Page<AuditRow, string>> {
  const { action, actor, subject, since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
  const { audit } = db.sql;
  // A thing has the fewest entries, a kind of action the most.
  const sql =
    subject !== undefined
      ? audit.bySubject
      : actor !== undefined
        ? audit.byActor
        : action !== undefined
          ? audit.byAction
          : audit.all;
  const rows = yield* db.find<AuditRow>(sql, {
    env,
    floor: db.auditIdAt(since),
    before: db.auditIdBefore(filter.before, filter.until === undefined ? null : until + stampSlackMs),
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
export const pruneAudit = (db: Database, env: string, before: number, max: number) =>
  db.run(db.sql.audit.prune, env, env, db.auditIdAt(before), max);

export function* countAudit(db: Database, env: string, before: number): Rule<number> {
  return (yield* db.one<{ count: number }>(countSql, env, db.auditIdAt(before)))!.count;
}
