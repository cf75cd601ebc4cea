// An event or a signal arrives for runs that wait.
import type { Outcome } from "../../model/outcome.ts";
import type { WokenRun } from "../advance.ts";
import type { Audited } from "../audit.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "../waits.ts";
import { endWaitAndWake } from "./end-wait.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectWaitSql = `select ${waitColumns} from waits where env = ? and run_id = ? and step_id = ?`;
const selectSignalSql = `select ${waitColumns} from waits indexed by waits_by_signal where env = ? and signal = ?`;
const endDeliverJobSql = "delete from jobs where env = ? and id = ? and fence = ?";

export function resumeWaits(tx: Transaction, input: ResumeInput): ResumeAnswer {
  const { env } = input;
  if (tx.connection.run(endDeliverJobSql, env, input.jobId, input.fence) === 0) return { kind: "fenced" };
  const woken: WokenRun[] = [];
  for (const { runId, stepId } of input.waits) {
    const wait = tx.connection.one<WaitRow>(selectWaitSql, env, runId, stepId);
    if (wait === undefined) continue;
    const run = endWaitAndWake(tx, env, wait, input.outcome);
    if (run !== null) woken.push(run);
  }
  return { kind: "resumed", woken };
}

export function resumeSignal(
  tx: Transaction,
  env: string,
  signal: string,
  outcome: Outcome,
  byHand?: Audited,
): SignalAnswer {
  const wait = tx.connection.one<WaitRow>(selectSignalSql, env, signal);
  if (wait === undefined) return { kind: "nobody-waits" };
  const woken = endWaitAndWake(tx, env, wait, outcome);
  if (woken !== null && byHand !== undefined) {
    writeAudit(tx, env, { action: "raise-signal", subject: signal, reason: `woke ${woken.runId}`, ...byHand });
  }
  return woken === null ? { kind: "nobody-waits" } : { kind: "resumed", woken };
}
