// Events that cancel a run while it is open, found by name and one equality as waits are.
import type { CancelCandidate, CancelRule } from "../flow.ts";
import { type EventRow, eventColumns, readEvent } from "../rows.ts";
import type { Connection } from "./connection.ts";
import { indexable } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

const insertRuleSql = `
  insert into cancels (env, run_id, n, event_name, path, value, rest, ends_at, stamp)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const forgetRulesSql = "delete from cancels where env = ? and run_id = ?";
const candidatesSql = `
  select c.run_id, c.rest, ${eventColumns}
    from cancels c
   cross join lateral (select event_id from runs where env = c.env and id = c.run_id limit 1) r
   cross join lateral (select * from events where env = c.env and id = r.event_id limit 1) e
   where c.env = ? and c.event_name = ? and c.path = ? and c.value = ? and c.stamp < ? and (c.ends_at is null or c.ends_at > ?)`;

export function keepRules(tx: Transaction, env: string, runId: string, rules: readonly CancelRule[]): void {
  rules.forEach((rule, n) => {
    const endsAt = rule.lastsMs === null ? null : tx.at.now + rule.lastsMs;
    const { eventName, path, value, rest } = rule;
    tx.ahead.awaited.delete(inEnv(env, eventName));
    tx.connection.write(insertRuleSql, env, runId, n, eventName, path, indexable(value), rest, endsAt, tx.stamp());
  });
  if (rules.length > 0) tx.keepStamps();
}

export async function rulesMatching(
  connection: Connection,
  env: string,
  event: EventRow,
  probes: readonly { readonly path: string; readonly value: string }[],
): Promise<CancelCandidate[]> {
  const asked = [{ path: "", value: "" }, ...probes.filter(({ path }) => path !== "")];
  const found = await Promise.all(
    asked.map(({ path, value }) =>
      connection.all<EventRow & { run_id: string; rest: string | null }>(
        candidatesSql,
        env,
        event.name,
        path,
        indexable(value),
        event.stamp,
        event.received_at,
      ),
    ),
  );
  return found.flat().map((row) => ({ runId: row.run_id, rest: row.rest, event: readEvent(row) }));
}
