// An invoking step waits for a decision that is still pending under a stand-in for the run to come. Once it is decided, the wait is for
// the run that answers, or is over with the reason why there is none.
import { type Decision, isPending } from "../../model/decision.ts";
import { notStartedReason } from "../../model/decision-reasons.ts";
import type { Outcome } from "../../model/outcome.ts";
import { serializeError } from "../../model/user-errors.ts";
import { standInFor } from "../../model/wait.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import type { Writing } from "../writing.ts";
import { endWaitAndWake } from "./end-wait.ts";
import { findRun } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";

const waitsForChildSql = `
  select ${waitColumns} from waits indexed by waits_by_child where env = ? and child_run_id = ? order by stamp`;
const waitForRunSql = "update waits set child_run_id = ? where env = ? and run_id = ? and step_id = ?";

export function answerPending(tx: Transaction, env: string, decision: Decision, out: Writing): void {
  const { eventId, fn, runId } = decision;
  const child = standInFor(eventId, fn);
  if (!tx.known.mayHaveParent(env, child) || isPending(decision)) return;
  for (const wait of tx.connection.all<WaitRow>(waitsForChildSql, env, child)) {
    const isAnswered = runId !== null && decision.kind !== "singleton-skipped";
    const run = isAnswered ? findRun(tx.connection, env, runId) : undefined;
    if (isAnswered && (run === undefined || run.ended_state === null)) {
      tx.connection.run(waitForRunSql, runId, env, wait.run_id, wait.step_id);
      tx.known.noteParent(env, runId);
      continue;
    }
    const outcome =
      run === undefined
        ? notStarted(fn, decision.reason ?? decision.kind)
        : ({ kind: run.ended_state === "completed" ? "value" : "error", json: run.result ?? "null" } as const);
    if (endWaitAndWake(tx, env, wait, outcome) !== null) out.queued = true;
  }
}

/** What an invoking step gets where no run answers for it. */
export const notStarted = (fn: string, reason: string): Outcome => ({
  kind: "error",
  json: serializeError({ name: "Error", message: notStartedReason(fn, reason) }),
});
