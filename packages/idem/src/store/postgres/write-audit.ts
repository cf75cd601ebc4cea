// What people did by hand: who, what, to which thing, when and why (store/audit.ts).
import type { AuditAnswer, AuditFilter, AuditInput, AuditRow } from "../audit.ts";
import type { Page } from "../reads.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = `
  insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
const auditSql = `
  select id, at, actor, action, subject, reason from audit where env = ? and id < ? order by id desc limit ?`;

// What an index takes is 2,704 bytes.
const idCharsMax = 600;
// After every digit, as bytes are compared.
const afterAll = "~";

export async function writeAudit(
  tx: Transaction,
  env: string,
  { action, subject, reason, actor = "" }: Omit<AuditInput, "env">,
): Promise<void> {
  // Two nodes may have one stamp; of one stamp the actor and the subject tell two rows apart.
  const id = `${tx.stamp()} ${actor} ${subject}`.slice(0, idCharsMax);
  await tx.connection.run(insertAuditSql, env, id, tx.at.now, action, subject, reason, actor);
}

export async function keepAudit(tx: Transaction, input: AuditInput): Promise<AuditAnswer> {
  await writeAudit(tx, input.env, input);
  return "kept";
}

/** Stamps have had as many digits since 2001 and will until 2286, so they are in the order of their text. */
export async function auditPage(
  connection: Connection,
  env: string,
  filter: AuditFilter,
): Promise<Page<AuditRow, string>> {
  const rows = await connection.all<AuditRow>(auditSql, env, filter.before ?? afterAll, filter.limit);
  return { rows, next: rows.length < filter.limit ? null : rows.at(-1)!.id };
}
