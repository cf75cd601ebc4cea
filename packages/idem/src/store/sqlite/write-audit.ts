// What people did by hand: who, what, to which thing, when and why (store/audit.ts).
import type { AuditAnswer, AuditFilter, AuditInput, AuditRow } from "../audit.ts";
import type { Page } from "../reads.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = "insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?)";
const auditSql = `
  select cast(id as text) as id, at, actor, action, subject, reason from audit
   where env = ? and id < ? order by audit.id desc limit ?`;

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
  const before = Number(filter.before ?? Number.MAX_SAFE_INTEGER);
  const rows = connection.all<AuditRow>(auditSql, env, Number.isSafeInteger(before) ? before : 0, filter.limit);
  return { rows, next: rows.length < filter.limit ? null : rows.at(-1)!.id };
}
