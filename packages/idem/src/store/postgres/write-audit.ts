// An entry's id begins with its stamp.
import type { AuditInput } from "../audit.ts";
import type { Statements } from "../rules/statements.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = `
  insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

// What is asked for narrows; null for what is not.
const columns = "id, at, actor, action, subject, reason";
const fits = `id >= :floor and id < :before and at >= :since and at < :until
     and (cast(:action as text) is null or action = :action) and (cast(:actor as text) is null or actor = :actor)`;
export const audit: Statements["audit"] = {
  all: `
    select ${columns} from audit where env = :env and ${fits} order by id desc limit :limit`,
  byAction: `
    select ${columns} from audit where env = :env and action = :action and ${fits} order by id desc limit :limit`,
  byActor: `
    select ${columns} from audit
     where env = :env and left(actor, 100) = left(:actor, 100) and ${fits} order by id desc limit :limit`,
  bySubject: `
    select ${columns} from audit
     where env = :env and left(subject, 100) = left(cast(:subject as text), 100) and subject = :subject and ${fits}
     order by id desc limit :limit`,
  prune: `
    delete from audit where env = ? and id = any(array(
      select id from audit where env = ? and id < ? order by id limit ?))`,
};

// What an index takes is 2,704 bytes.
const idCharsMax = 600;

export function writeAudit(
  tx: Transaction,
  env: string,
  { action, subject, reason, actor = "" }: Omit<AuditInput, "env">,
): void {
  // Two nodes may have one stamp; of one stamp the actor and the subject tell two rows apart.
  const id = `${tx.stamp()} ${actor} ${subject}`.slice(0, idCharsMax);
  tx.connection.write(insertAuditSql, env, id, tx.at.now, action, subject, reason, actor);
}
