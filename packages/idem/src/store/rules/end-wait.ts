// A wait ends once: the call that deletes its row records its outcome. Timeout, match, signal and finished child all race on that
// delete, so none of them needs to know about the others. The run's job is locked first, as by everyone who moves the run.
import { type Decision, isAnswered, isPending, notStartedReason } from "../../model/decision.ts";
import type { Outcome } from "../../model/step.ts";
import { serializeError } from "../../model/user-errors.ts";
import { standInFor } from "../../model/wait.ts";
import type { WokenRun } from "../advance.ts";
import type { WaitRow } from "../rows.ts";
import type { Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { findRun, waitsOfRun } from "./read-memo.ts";
import { recordWaited } from "./record-step.ts";
import type { Rule } from "./rule.ts";

const deleteWaitSql = "delete from waits where env = ? and run_id = ? and step_id = ? returning input";
// A leased job keeps its lease: its worker collects the news. An unleased one is due at once, unless a person is to let it go on.
const wakeJobSql = `
  update jobs set due_at = null, rank = ? where env = ? and id = ? and leased_by is null and parked_at is null`;
const waitForRunSql = "update waits set child_run_id = ? where env = ? and run_id = ? and step_id = ?";

/** Records the wait's outcome if the wait is still there. */
function* endWait(tx: RuleTransaction, env: string, wait: WaitRow, outcome: Outcome): Rule<boolean> {
  const ended = yield* tx.one<{ input: string | null }>(deleteWaitSql, env, wait.run_id, wait.step_id);
  if (ended === undefined) return false;
  yield* recordWaited(tx, env, wait.run_id, wait.child_run_id, {
    stepId: wait.step_id,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.step_kind,
    outcome,
    attempt: 1,
    startedAt: wait.started_at,
    endedAt: tx.at.now,
    input: ended.input,
  });
  return true;
}

export function* endWaitAndWake(
  tx: RuleTransaction,
  env: string,
  wait: WaitRow,
  outcome: Outcome,
): Rule<WokenRun | null> {
  const job = yield* tx.lockJob(env, wait.run_id);
  if (job === undefined || !(yield* endWait(tx, env, wait, outcome))) return null;
  tx.write(wakeJobSql, tx.at.now, env, wait.run_id);
  tx.woke(env, job);
  return { runId: wait.run_id, fn: job.fn, leasedBy: job.leased_by };
}

/** Of a run's waits those whose time is over, the earliest first, and when the next one's is. */
export function overdueWaits(
  waits: readonly WaitRow[],
  now: number,
): { readonly over: readonly WaitRow[]; readonly nextAt: number | null } {
  const timed = waits.filter((wait) => wait.timeout_at !== null).sort((a, b) => a.timeout_at! - b.timeout_at!);
  const next = timed.findIndex((wait) => wait.timeout_at! > now);
  return next === -1 ? { over: timed, nextAt: null } : { over: timed.slice(0, next), nextAt: timed[next]!.timeout_at };
}

export const atTimeout = (wait: WaitRow): Outcome => ({ kind: wait.on_timeout, json: wait.on_timeout_json });

/** Ends the run's waits whose time is over; says when the next one is. The caller holds the run's job. */
export function* expireWaits(tx: RuleTransaction, env: string, runId: string): Rule<number | null> {
  const { over, nextAt } = overdueWaits(yield* waitsOfRun(tx, env, runId), tx.at.now);
  for (const wait of over) yield* endWait(tx, env, wait, atTimeout(wait));
  return nextAt;
}

/**
 * An invoking step waits for a decision that is still pending under a stand-in for the run to come. Once it is decided, the wait is for the
 * run that answers, or is over with the reason why there is none.
 */
export function* answerPending(tx: RuleTransaction, env: string, decision: Decision, out: Writing): Rule<void> {
  const { eventId, fn } = decision;
  const child = standInFor(eventId, fn);
  if (isPending(decision) || !tx.mayHaveParent(env, child)) return;
  const runId = isAnswered(decision) ? decision.runId : null;
  for (const wait of yield* tx.all<WaitRow>(tx.sql.waits.forChild, env, child)) {
    const isOpen = runId !== null && (yield* tx.awaitRun(env, runId));
    const run = runId !== null && !isOpen ? yield* findRun(tx, env, runId) : undefined;
    if (runId !== null && (run === undefined || run.ended_state === null)) {
      // As by everyone who moves the waiting run.
      yield* tx.lockJob(env, wait.run_id);
      tx.write(waitForRunSql, runId, env, wait.run_id, wait.step_id);
      continue;
    }
    const outcome =
      run === undefined
        ? notStarted(fn, decision.reason ?? decision.kind)
        : ({ kind: run.ended_state === "completed" ? "value" : "error", json: run.result ?? "null" } as const);
    if ((yield* endWaitAndWake(tx, env, wait, outcome)) !== null) out.queued = true;
  }
}

/** The outcome of an invoking step where no run answers for it. */
export const notStarted = (fn: string, reason: string): Outcome => ({
  kind: "error",
  json: serializeError({ name: "Error", message: notStartedReason(fn, reason) }),
});
