// What people did by hand, and why.
import type { Transaction } from "./transaction.ts";

const insertAuditSql = "insert into audit (env, id, at, action, subject, reason) values (?, ?, ?, ?, ?, ?)";

export interface AuditEntry {
  readonly action:
    | "release-key"
    | "resolve-key"
    | "pause-function"
    | "resume-function"
    | "release-event"
    | "drop-event"
    | "change-setting";
  readonly subject: string;
  readonly reason: string;
}

export function writeAudit(tx: Transaction, env: string, { action, subject, reason }: AuditEntry): void {
  tx.connection.run(insertAuditSql, env, tx.stamp(), tx.at.now, action, subject, reason);
}
