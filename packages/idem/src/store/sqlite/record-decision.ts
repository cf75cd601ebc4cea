// One decision per event and function. A pending one is decided again, once.
import type { Decision } from "../../model/decision.ts";
import type { EventRow } from "../rows.ts";
import type { Writing } from "../writing.ts";
import { findEvent } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";

const insertDecisionSql = `
  insert into decisions (env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const decideAgainSql = `
  update decisions set kind = ?, reason = ?, run_id = ?, key = ?, window_ends_at = ?, first_event_id = ?, decided_at = ?
   where env = ? and event_id = ? and fn = ?`;

export function recordDecision(tx: Transaction, env: string, out: Writing, decision: Decision): void {
  tx.connection.run(
    insertDecisionSql,
    env,
    decision.eventId,
    decision.fn,
    decision.kind,
    decision.reason,
    decision.runId,
    decision.key,
    decision.windowEndsAt,
    decision.firstEventId,
    decision.decidedAt,
  );
  out.decisions.push(decision);
}

/** Whether it is told as the decision of an event that was stored in the same call. */
export function decideAgain(tx: Transaction, env: string, out: Writing, decision: Decision): boolean {
  tx.connection.run(
    decideAgainSql,
    decision.kind,
    decision.reason,
    decision.runId,
    decision.key,
    decision.windowEndsAt,
    decision.firstEventId,
    decision.decidedAt,
    env,
    decision.eventId,
    decision.fn,
  );
  // Who just sent the event hears of its second decision only.
  const told = out.decisions.findIndex(({ eventId, fn }) => eventId === decision.eventId && fn === decision.fn);
  if (told === -1) return false;
  out.decisions[told] = decision;
  return true;
}

/** Keeps the first event's data for whoever wants to compare. */
export function noteFirst(
  tx: Transaction,
  env: string,
  out: Writing,
  data: string,
  firstEventId: string,
): EventRow | undefined {
  const first = findEvent(tx.connection, env, firstEventId);
  if (first !== undefined && first.data !== data) out.firsts.set(firstEventId, first.data);
  return first;
}
