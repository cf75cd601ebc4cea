// One decision per event and function. A pending one is decided again, once.
import type { Decision } from "../../model/decision.ts";
import type { FirstEvent } from "../rows.ts";
import type { Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { type Insertion, insertion } from "./insertion.ts";
import type { Rule } from "./rule.ts";

export const newDecisions = (table: string): Insertion =>
  insertion(table, {
    env: "text",
    event_id: "text",
    fn: "text",
    kind: "text",
    reason: "text",
    run_id: "text",
    key: "text",
    window_ends_at: "bigint",
    first_event_id: "text",
    decided_at: "bigint",
  });

export const decideAgainSql = (table: string): string => `
  update ${table} set kind = ?, reason = ?, run_id = ?, key = ?, window_ends_at = ?, first_event_id = ?, decided_at = ?
   where env = ? and event_id = ? and fn = ?`;

export function recordDecision(tx: RuleTransaction, env: string, out: Writing, decision: Decision): void {
  const { eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt } = decision;
  tx.add(tx.sql.decisions.added, env, eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt);
  out.decisions.push(decision);
}

/** Whether it is told as the decision of an event that was stored in the same call. */
export function decideAgain(tx: RuleTransaction, env: string, out: Writing, decision: Decision): boolean {
  const { eventId, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt } = decision;
  tx.write(tx.sql.decisions.again, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt, env, eventId, fn);
  tx.decidedAgain(env, eventId);
  // A caller that just sent the event hears of its second decision only.
  const told = out.decisions.findIndex((one) => one.eventId === eventId && one.fn === fn);
  if (told === -1) return false;
  out.decisions[told] = decision;
  return true;
}

/** Keeps the first event's data for callers that compare. */
export function* noteFirst(
  tx: RuleTransaction,
  env: string,
  out: Writing,
  data: string,
  firstEventId: string,
): Rule<FirstEvent | undefined> {
  const first = yield* tx.firstEvent(env, firstEventId);
  if (first !== undefined && first.data !== data) out.firsts.set(firstEventId, first.data);
  return first;
}
