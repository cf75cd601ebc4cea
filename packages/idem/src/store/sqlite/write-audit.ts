// An entry's id is its stamp.
import type { AuditInput } from "../audit.ts";
import type { Statements } from "../rules/statements.ts";
import type { Transaction } from "./transaction.ts";

const insertAuditSql = "insert into audit (env, id, at, action, subject, reason, actor) values (?, ?, ?, ?, ?, ?, ?)";

// Given values narrow; null does not.
const columns = "cast(id as text) as id, at, actor, action, subject, reason";
const fits = `id >= :floor and id < :before and at >= :since and at < :until
     and (:action is null or action = :action) and (:actor is null or actor = :actor)`;

export const audit: Statements["audit"] = {
  all: `
    select ${columns} from audit where env = :env and ${fits} order by audit.id desc limit :limit`,
  byAction: `
    select ${columns} from audit indexed by audit_by_action
     where env = :env and action = :action and ${fits} order by audit.id desc limit :limit`,
  byActor: `
    select ${columns} from audit indexed by audit_by_actor
     where env = :env and actor = :actor and ${fits} order by audit.id desc limit :limit`,
  bySubject: `
    select ${columns} from audit indexed by audit_by_subject
     where env = :env and subject = :subject and ${fits} order by audit.id desc limit :limit`,
  prune: `
    delete from audit where env = ? and id in (select id from audit where env = ? and id < ? order by id limit ?)`,
};

export function writeAudit(
  tx: Transaction,
  env: string,
  { action, subject, reason, actor = "" }: Omit<AuditInput, "env">,
): void {
  tx.connection.run(insertAuditSql, env, tx.stamp(), tx.at.now, action, subject, reason, actor);
}
