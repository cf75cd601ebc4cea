// A person or a rule ends a run. After the answer no job or wait of it exists; a worker in the middle finds its fence gone.

import type { WokenRun } from "../advance.ts";
import type { CancelAnswer, CancelInput } from "../runs.ts";
import type { Writing } from "../writing.ts";
import { ingestNested } from "./advance-run.ts";
import { endRun } from "./end-run.ts";
import { staleRegistration } from "./ingest-events.ts";
import { insertJob } from "./open-run.ts";
import { findRun } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const deleteJobSql = "delete from jobs where env = ? and id = ? returning lane, leased_by";

export function cancelRun(tx: Transaction, input: CancelInput): CancelAnswer {
  const run = findRun(tx.connection, input.env, input.runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.ended_state !== null) return { kind: "already-ended", state: run.ended_state };
  const stale = input.ingest === null ? null : staleRegistration(tx, input.env, input.ingest.registration);
  if (stale !== null) return stale;
  const ingested = input.ingest === null ? null : ingestNested(tx, input.env, input.ingest);
  if (input.byHand !== undefined) {
    writeAudit(tx, input.env, { action: "cancel-run", subject: input.runId, ...input.byHand });
  }
  return { kind: "cancelled", ...endAsCancelled(tx, input.env, input.runId, input), ingested };
}

function endAsCancelled(
  tx: Transaction,
  env: string,
  runId: string,
  { result, releaseKey }: { readonly result: string; readonly releaseKey: boolean },
): { readonly woken: WokenRun[]; readonly freed: boolean } {
  const job = tx.connection.one<{ lane: string | null; leased_by: string | null }>(deleteJobSql, env, runId);
  const holdsSlots = job !== undefined && job.lane !== null && job.leased_by !== null;
  const freed = holdsSlots && tx.lanes.giveBack(job.lane!);
  const ending = { hadWaits: true, state: "cancelled", result, fence: null, releaseKey } as const;
  return { woken: endRun(tx, env, runId, ending), freed };
}

/** One singleton run makes room for another, in the transaction that creates it; others hear of its end through the announce job. */
export function cancelHolder(
  tx: Transaction,
  env: string,
  runId: string,
  { result, releaseKey = false }: { readonly result: string; readonly releaseKey?: boolean },
  out: Writing,
): void {
  endAsCancelled(tx, env, runId, { result, releaseKey });
  insertJob(tx, env, {
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
