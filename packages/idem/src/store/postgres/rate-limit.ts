// At most so many starts in any period: the starts that still count are rows, so the answer is exact and says when room frees.
import type { RateRule } from "../flow.ts";
import { lockName, rateLock } from "./lock-name.ts";
import type { Transaction } from "./transaction.ts";

const earliestThatCountsSql =
  "select at from rate_starts where env = ? and id = ? order by stamp desc limit 1 offset ?";
const insertStartSql = "insert into rate_starts (env, id, stamp, run_id, at) values (?, ?, ?, ?, ?)";
const forgetStartsSql = `
  delete from rate_starts where env = ? and id = ? and (stamp, run_id) in (
    select stamp, run_id from rate_starts where env = ? and id = ? and at <= ? order by stamp limit 100)`;

/** When the next start is let in; null for now. */
export async function frees(tx: Transaction, env: string, rule: RateRule): Promise<number | null> {
  await lockName(tx, rateLock(env, rule.id));
  const row = await tx.connection.one<{ at: number }>(earliestThatCountsSql, env, rule.id, rule.limit - 1);
  if (row === undefined) return null;
  const freesAt = row.at + rule.periodMs;
  return freesAt > tx.at.now ? freesAt : null;
}

export async function countStart(tx: Transaction, env: string, rule: RateRule, runId: string): Promise<void> {
  const { id, periodMs } = rule;
  await tx.connection.run(forgetStartsSql, env, id, env, id, tx.at.now - periodMs);
  await tx.connection.run(insertStartSql, env, id, tx.stamp(), runId, tx.at.now);
}
