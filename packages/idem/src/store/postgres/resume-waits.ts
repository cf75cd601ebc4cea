// An event or a signal arrives for runs that wait.
import type { Outcome } from "../../model/outcome.ts";
import type { WokenRun } from "../advance.ts";
import type { Audited } from "../audit.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "../waits.ts";
import { endWaitAndWake } from "./end-wait.ts";
import { indexable } from "./text.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectWaitSql = `select ${waitColumns} from waits where env = ? and run_id = ? and step_id = ?`;
const selectSignalSql = `select ${waitColumns} from waits where env = ? and signal = ?`;
const endDeliverJobSql = "delete from jobs where env = ? and id = ? and fence = ?";

export async function resumeWaits(tx: Transaction, input: ResumeInput): Promise<ResumeAnswer> {
  const { env } = input;
  if ((await tx.connection.run(endDeliverJobSql, env, input.jobId, input.fence)) === 0) return { kind: "fenced" };
  // Two events may resume the same runs at once: runs are locked in one order everywhere.
  const inOrder = [...input.waits].sort((a, b) => (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0));
  const resumed = new Map<(typeof inOrder)[number], WokenRun>();
  for (const each of inOrder) {
    const wait = await tx.connection.one<WaitRow>(selectWaitSql, env, each.runId, each.stepId);
    const run = wait === undefined ? null : await endWaitAndWake(tx, env, wait, input.outcome);
    if (run !== null) resumed.set(each, run);
  }
  return { kind: "resumed", woken: input.waits.flatMap((each) => resumed.get(each) ?? []) };
}

export async function resumeSignal(
  tx: Transaction,
  env: string,
  signal: string,
  outcome: Outcome,
  byHand?: Audited,
): Promise<SignalAnswer> {
  const wait = await tx.connection.one<WaitRow>(selectSignalSql, env, indexable(signal));
  const woken = wait === undefined ? null : await endWaitAndWake(tx, env, wait, outcome);
  if (woken !== null && byHand !== undefined) {
    await writeAudit(tx, env, { action: "raise-signal", subject: signal, reason: `woke ${woken.runId}`, ...byHand });
  }
  return woken === null ? { kind: "nobody-waits" } : { kind: "resumed", woken };
}
