// A person releases a paused or held event, or drops it. Only while it is still pending: whoever comes second finds it decided.
import { decidedOutright, isPending } from "../../model/decision.ts";
import type { RedecideAnswer, RedecideInput } from "../flow.ts";
import { type DecisionRow, readDecision, readEvent } from "../rows.ts";
import { answerOf, newWriting } from "../writing.ts";
import { staleRegistration } from "./ingest-events.ts";
import { lockAhead } from "./lock-ahead.ts";
import { answerPending } from "./pending-child.ts";
import { findEvent } from "./read-memo.ts";
import { decideAgain } from "./record-decision.ts";
import { startRun } from "./start-run.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectDecisionSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and event_id = ? and fn = ? for update`;

export async function redecideEvent(tx: Transaction, input: RedecideInput): Promise<RedecideAnswer> {
  const { env, eventId, pair } = input;
  const row = await tx.connection.one<DecisionRow>(selectDecisionSql, env, eventId, pair.fn);
  const event = await findEvent(tx.connection, env, eventId);
  if (row === undefined || event === undefined) return { kind: "not-pending" };
  const before = readDecision(row);
  const out = newWriting();
  if (before.kind === "started" && pair.kind === "start" && before.runId === pair.runId) {
    // The same asking again, after its answer was lost.
    out.decisions.push(before);
    return answerOf(out, tx.at.now);
  }
  if (!isPending(before) || (before.kind !== "paused" && before.kind !== "held")) return { kind: "not-pending" };
  const stale = await staleRegistration(tx, env, input.registration);
  if (stale !== null) return stale;
  await lockAhead(tx, [{ env, events: [], pairs: [pair] }]);
  const decision =
    pair.kind === "start"
      ? await startRun(tx, env, { event: readEvent(event), pair, generation: pair.generation, windowEndsAt: null }, out)
      : decidedOutright(pair, eventId, tx.at.now);
  decideAgain(tx, env, out, decision);
  out.decisions.push(decision);
  await answerPending(tx, env, decision, out);
  const action = pair.kind === "dropped" ? "drop-event" : "release-event";
  await writeAudit(tx, env, { action, subject: `${eventId} ${pair.fn}`, reason: input.reason, actor: input.actor });
  return answerOf(out, tx.at.now);
}
