// The one way a run moves, and what it locks ahead of that.
import type { AdvanceAnswer, AdvanceInput } from "../advance.ts";
import { advanceRun as advanceByRule } from "../rules/advance-run.ts";
import type { ClosedClaim } from "../rules/database.ts";
import { claimsOfRun } from "../rules/end-run.ts";
import { signalTurn } from "../rules/resume-waits.ts";
import { driveAwaited } from "../rules/rule.ts";
import { noLocks, slotLocks } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { lockChildren } from "./lock-children.ts";
import type { Transaction } from "./transaction.ts";

export const advanceRun = (tx: Transaction, input: AdvanceInput): Promise<AdvanceAnswer> =>
  driveAwaited(advanceByRule(tx, input));

/** Answers the claims that go with the run's end. */
export async function lockMoved(
  tx: Transaction,
  { env, runId, jobId, beside, waits, ingest, next }: AdvanceInput,
): Promise<readonly ClosedClaim[]> {
  const claims = next.kind === "end" ? await driveAwaited(claimsOfRun(tx, env, runId, next.releaseKey)) : [];
  const isMore = beside !== undefined && beside.want > beside.keep;
  const slots = isMore ? await slotLocks(tx, env, jobId) : noLocks;
  const signals = waits.flatMap((wait) => (wait.kind === "signal" ? [signalTurn(env, tx.indexed(wait.signal))] : []));
  const locksTaken = waits.some(({ kind }) => kind === "run");
  const asking = ingest === null ? [] : [{ env, ...ingest }];
  await lockAhead(tx, asking, { env, claims }, { held: [...slots, ...signals], locksTaken });
  await lockChildren(tx, env, waits, ingest);
  return claims;
}
