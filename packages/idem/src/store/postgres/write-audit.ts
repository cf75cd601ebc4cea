// What people did by hand, and why.
import type { Transaction } from "./transaction.ts";

const insertAuditSql =
  "insert into audit (env, id, at, action, subject, reason) values (?, ?, ?, ?, ?, ?) on conflict do nothing";

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

export async function writeAudit(tx: Transaction, env: string, { action, subject, reason }: AuditEntry): Promise<void> {
  await tx.connection.run(insertAuditSql, env, `${tx.stamp()} ${subject}`, tx.at.now, action, subject, reason);
}
