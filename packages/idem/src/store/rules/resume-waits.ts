// An event or a signal arrives for runs that wait.
import type { Outcome } from "../../model/step.ts";
import type { WokenRun } from "../advance.ts";
import type { Audited } from "../audit.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "../waits.ts";
import type { RuleTransaction } from "./database.ts";
import { endWaitAndWake } from "./end-wait.ts";
import type { Rule } from "./rule.ts";

const selectWaitSql = `select ${waitColumns} from waits where env = ? and run_id = ? and step_id = ?`;
const endDeliverJobSql = "delete from jobs where env = ? and id = ? and fence = ?";

export function* resumeWaits(tx: RuleTransaction, input: ResumeInput): Rule<ResumeAnswer> {
  const { env } = input;
  if ((yield* tx.run(endDeliverJobSql, env, input.jobId, input.fence)) === 0) return { kind: "fenced" };
  // Two events may resume the same runs at once: runs are locked in one order everywhere.
  const inOrder = [...input.waits].sort((a, b) => (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0));
  const resumed = new Map<(typeof inOrder)[number], WokenRun>();
  for (const each of inOrder) {
    const wait = yield* tx.one<WaitRow>(selectWaitSql, env, each.runId, each.stepId);
    const run = wait === undefined ? null : yield* endWaitAndWake(tx, env, wait, input.outcome);
    if (run !== null) resumed.set(each, run);
  }
  return { kind: "resumed", woken: input.waits.flatMap((each) => resumed.get(each) ?? []) };
}

/** A signal and a run that begins to wait for it take turns, so that the signal finds a wait that is being committed. */
export const signalTurn = (env: string, signal: string): string => `signal:${JSON.stringify([env, signal])}`;

export function* resumeSignal(
  tx: RuleTransaction,
  env: string,
  signal: string,
  outcome: Outcome,
  byHand?: Audited,
): Rule<SignalAnswer> {
  const indexed = tx.indexed(signal);
  yield* tx.turn(signalTurn(env, indexed));
  const wait = yield* tx.one<WaitRow>(tx.sql.waits.ofSignal, env, indexed);
  const woken = wait === undefined ? null : yield* endWaitAndWake(tx, env, wait, outcome);
  if (woken !== null && byHand !== undefined) {
    tx.audit(env, { action: "raise-signal", subject: signal, reason: `woke ${woken.runId}`, ...byHand });
  }
  return woken === null ? { kind: "nobody-waits" } : { kind: "resumed", woken };
}
