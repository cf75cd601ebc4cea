// Events that cancel a run while it is open, found by name and one equality as waits are.

import type { CancelRule } from "../../flow/cancel-on/plan.ts";
import type { CancelCandidate } from "../flow.ts";
import { type EventRow, readEvent } from "../rows.ts";
import type { Database, RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const insertRuleSql = `
  insert into cancels (env, run_id, n, event_name, path, value, rest, ends_at, stamp)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function keepRules(tx: RuleTransaction, env: string, runId: string, rules: readonly CancelRule[]): void {
  rules.forEach((rule, n) => {
    const endsAt = rule.lastsMs === null ? null : tx.at.now + rule.lastsMs;
    const { eventName, path, value, rest } = rule;
    const stamp = tx.stamp();
    tx.write(insertRuleSql, env, runId, n, eventName, path, tx.indexed(value), rest, endsAt, stamp);
    tx.noteAwaited(env, eventName, stamp);
  });
  if (rules.length > 0) tx.keepStamps();
}

export function* rulesMatching(
  db: Database,
  env: string,
  event: EventRow,
  probes: readonly { readonly path: string; readonly value: string }[],
): Rule<CancelCandidate[]> {
  const asked = [{ path: "", value: "" }, ...probes.filter(({ path }) => path !== "")];
  const { name, stamp, received_at } = event;
  const found = yield* db.together<(EventRow & { run_id: string; rest: string | null })[][]>(
    ...asked.map(({ path, value }) =>
      db.all<EventRow & { run_id: string; rest: string | null }>(
        db.sql.cancels.candidates,
        env,
        name,
        path,
        db.indexed(value),
        stamp,
        received_at,
      ),
    ),
  );
  return found.flat().map((row) => ({ runId: row.run_id, rest: row.rest, event: readEvent(row) }));
}
