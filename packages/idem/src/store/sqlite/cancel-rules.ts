// Events that cancel a run while it is open, found by name and one equality as waits are.
import type { CancelCandidate, CancelRule } from "../flow.ts";
import { type EventRow, eventColumns, readEvent } from "../rows.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const insertRuleSql = `
  insert into cancels (env, run_id, n, event_name, path, value, rest, ends_at, stamp)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const forgetRulesSql = "delete from cancels where env = ? and run_id = ?";
const candidatesSql = `
  select c.run_id, c.rest, ${eventColumns}
    from cancels c indexed by cancels_by_event
    join runs r on r.env = c.env and r.id = c.run_id
    join events e on e.env = r.env and e.id = r.event_id
   where c.env = ? and c.event_name = ? and c.path = ? and c.value = ? and c.stamp < ? and (c.ends_at is null or c.ends_at > ?)`;

export function keepRules(tx: Transaction, env: string, runId: string, rules: readonly CancelRule[]): void {
  rules.forEach((rule, n) => {
    const endsAt = rule.lastsMs === null ? null : tx.at.now + rule.lastsMs;
    const { eventName, path, value, rest } = rule;
    tx.connection.run(insertRuleSql, env, runId, n, eventName, path, value, rest, endsAt, tx.stamp());
    tx.known.noteAwaited(env, eventName);
  });
}

export function rulesMatching(
  connection: Connection,
  env: string,
  event: EventRow,
  probes: readonly { readonly path: string; readonly value: string }[],
): CancelCandidate[] {
  return [{ path: "", value: "" }, ...probes.filter(({ path }) => path !== "")].flatMap(({ path, value }) =>
    connection
      .all<EventRow & { run_id: string; rest: string | null }>(
        candidatesSql,
        env,
        event.name,
        path,
        value,
        event.stamp,
        event.received_at,
      )
      .map((row) => ({ runId: row.run_id, rest: row.rest, event: readEvent(row) })),
  );
}
