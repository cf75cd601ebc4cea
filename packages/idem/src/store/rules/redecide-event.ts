// A person releases a paused or held event, or drops it. Only while it is still pending: a second caller finds it decided.
import { decidedOutright, isPending } from "../../model/decision.ts";
import type { RedecideAnswer, RedecideInput } from "../flow.ts";
import { type DecisionRow, readDecision, readEvent } from "../rows.ts";
import { answerOf, newWriting } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { answerPending } from "./end-wait.ts";
import { findEvent } from "./read-memo.ts";
import { decideAgain } from "./record-decision.ts";
import type { Rule } from "./rule.ts";
import { startRun } from "./start-run.ts";

export function* redecideEvent(tx: RuleTransaction, input: RedecideInput): Rule<RedecideAnswer> {
  const { env, eventId, pair } = input;
  const row = yield* tx.one<DecisionRow>(tx.sql.decisions.lock, env, eventId, pair.fn);
  const event = yield* findEvent(tx, env, eventId);
  if (row === undefined || event === undefined) return { kind: "not-pending" };
  const before = readDecision(row);
  const out = newWriting();
  if (before.kind === "started" && pair.kind === "start" && before.runId === pair.runId) {
    // The same asking again, after its answer was lost.
    out.decisions.push(before);
    return answerOf(out, tx.at.now);
  }
  if (!isPending(before) || (before.kind !== "paused" && before.kind !== "held")) return { kind: "not-pending" };
  const stale = yield* tx.staleRegistration(env, input.registration);
  if (stale !== null) return stale;
  yield* tx.lockAhead([{ env, events: [], pairs: [pair] }], null);
  const decision =
    pair.kind === "start"
      ? yield* startRun(
          tx,
          env,
          { event: readEvent(event), pair, generation: pair.generation, windowEndsAt: null },
          out,
        )
      : decidedOutright(pair, eventId, tx.at.now);
  decideAgain(tx, env, out, decision);
  out.decisions.push(decision);
  yield* answerPending(tx, env, decision, out);
  const action = pair.kind === "dropped" ? "drop-event" : "release-event";
  tx.audit(env, { action, subject: `${eventId} ${pair.fn}`, reason: input.reason, actor: input.actor });
  return answerOf(out, tx.at.now);
}
