// A run makes room for one that takes its place, in the transaction that creates it; others hear of its end through the announce job.
import type { Writing } from "../writing.ts";
import type { RuleTransaction } from "./database.ts";
import { claimsOfRun, endRun } from "./end-run.ts";
import type { HeldJob } from "./hold-beside.ts";
import type { Rule } from "./rule.ts";

const deleteJobSql = "delete from jobs where env = ? and id = ? returning lane, beside_1, beside_2, leased_by";

/** Whether it had slots that others may want. */
export function* takeJob(tx: RuleTransaction, env: string, runId: string): Rule<boolean> {
  const job = yield* tx.one<HeldJob & { leased_by: string | null }>(deleteJobSql, env, runId);
  if (job === undefined || job.lane === null || job.leased_by === null) return false;
  return tx.gaveBack(job.lane, [job.beside_1, job.beside_2]);
}

export const asCancelled = (result: string, releaseKey: boolean) =>
  ({ hadWaits: true, state: "cancelled", result, fence: null, releaseKey }) as const;

export function* cancelHolder(
  tx: RuleTransaction,
  env: string,
  runId: string,
  { result, releaseKey = false }: { readonly result: string; readonly releaseKey?: boolean },
  out: Writing,
): Rule<void> {
  const claims = yield* claimsOfRun(tx, env, runId, releaseKey);
  yield* tx.lockClaims(env, claims);
  yield* takeJob(tx, env, runId);
  yield* endRun(tx, env, runId, asCancelled(result, releaseKey), claims);
  tx.addJob(env, {
    id: `announce:${runId}`,
    kind: "announce",
    runId,
    eventId: null,
    fn: null,
    rank: tx.at.now,
    dueAt: null,
    fence: 0,
    leasedBy: null,
    lane: null,
    startBy: null,
    hadWaits: false,
  });
  out.queued = true;
  // It may have been started by this very call.
  const begun = out.leased.findIndex((job) => job.jobId === runId);
  if (begun !== -1) out.leased.splice(begun, 1);
  out.cancelled.push({ runId, result });
}
