// The one way a run moves, and ahead of its rule what nearly every move is: an outcome that is saved in one statement.
import type { AdvanceAnswer, AdvanceInput } from "../advance.ts";
import { forgetLostSql } from "../rows.ts";
import { advanceRun as advanceByRule, advanced, onlyStep } from "../rules/advance-run.ts";
import { driveAtOnce } from "../rules/rule.ts";
import { saveStep } from "./record-step.ts";
import { saveLog } from "./save-log.ts";
import type { Transaction } from "./transaction.ts";

export function advanceRun(tx: Transaction, input: AdvanceInput): AdvanceAnswer {
  const step = onlyStep(input);
  if (step === null || !saveStep(tx, input, step)) return driveAtOnce(advanceByRule(tx, input));
  const { env, runId, jobId, seen, log } = input;
  if (tx.known.mayHaveLostWorker(env, jobId)) {
    tx.connection.run(forgetLostSql, env, jobId);
    tx.known.noteProgress(env, jobId);
  }
  if (log != null) saveLog(tx, env, runId, log);
  return advanced(tx.at.now, seen, true, { outcomes: [step.outcome] });
}
