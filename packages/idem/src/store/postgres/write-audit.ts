// What people did by hand: who, what, to which thing, when and why (store/audit.ts). An entry's id begins with its stamp, so a range of time
// is a range of ids.
import { type AuditAnswer, type AuditFilter, type AuditInput, type AuditRow, stampSlackMs } from "../audit.ts";
import { firstStampAt } from "../clock.ts";
import type { Page } from "../reads.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = `
  insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

// What is asked for narrows; null for what is not.
const columns = "id, at, actor, action, subject, reason";
const fits = `id >= :floor and id < :before and at >= :since and at < :until
     and (cast(:action as text) is null or action = :action) and (cast(:actor as text) is null or actor = :actor)`;
const auditSql = `
  select ${columns} from audit where env = :env and ${fits} order by id desc limit :limit`;
const auditByActionSql = `
  select ${columns} from audit where env = :env and action = :action and ${fits} order by id desc limit :limit`;
const auditByActorSql = `
  select ${columns} from audit
   where env = :env and left(actor, 100) = left(:actor, 100) and ${fits} order by id desc limit :limit`;
const auditBySubjectSql = `
  select ${columns} from audit
   where env = :env and left(subject, 100) = left(cast(:subject as text), 100) and subject = :subject and ${fits}
   order by id desc limit :limit`;

const pruneSql = `
  delete from audit where env = :env and id = any(array(
    select id from audit where env = :env and id < :before order by id limit :max))
  returning 1`;
const countSql = "select count(*) as count from audit where env = ? and id < ?";

// What an index takes is 2,704 bytes.
const idCharsMax = 600;
// After every digit, as bytes are compared.
const afterAll = "~";

/** Stamps have had as many digits since 2001 and will until 2286, so they are in the order of their text. */
const idAt = (ms: number): string => String(firstStampAt(ms)).padStart(16, "0");

export function writeAudit(
  tx: Transaction,
  env: string,
  { action, subject, reason, actor = "" }: Omit<AuditInput, "env">,
): void {
  // Two nodes may have one stamp; of one stamp the actor and the subject tell two rows apart.
  const id = `${tx.stamp()} ${actor} ${subject}`.slice(0, idCharsMax);
  tx.connection.write(insertAuditSql, env, id, tx.at.now, action, subject, reason, actor);
}

export async function keepAudit(tx: Transaction, input: AuditInput): Promise<AuditAnswer> {
  writeAudit(tx, input.env, input);
  return "kept";
}

export async function auditPage(
  connection: Connection,
  env: string,
  filter: AuditFilter,
): Promise<Page<AuditRow, string>> {
  const { action, actor, subject, since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
  const last = filter.until === undefined ? afterAll : idAt(until + stampSlackMs);
  const before = filter.before ?? afterAll;
  // A thing has the fewest entries, a kind of action the most.
  const sql =
    subject !== undefined
      ? auditBySubjectSql
      : actor !== undefined
        ? auditByActorSql
        : action !== undefined
          ? auditByActionSql
          : auditSql;
  const rows = await connection.find<AuditRow>(sql, {
    env,
    floor: idAt(since),
    before: before < last ? before : last,
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
export async function pruneAudit(connection: Connection, env: string, before: number, max: number): Promise<number> {
  return (await connection.find(pruneSql, { env, before: idAt(before), max })).length;
}

export async function countAudit(connection: Connection, env: string, before: number): Promise<number> {
  return (await connection.one<{ count: number }>(countSql, env, idAt(before)))!.count;
}
