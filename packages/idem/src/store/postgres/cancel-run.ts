// A person or a rule ends a run. After the answer no job or wait of it exists; a worker in the middle finds its fence gone.
import type { CancelAnswer, CancelInput } from "../runs.ts";
import type { Writing } from "../writing.ts";
import { ingestNested } from "./advance-run.ts";
import { claimsOfRun, endRun, lockClaimsOfRun } from "./end-run.ts";
import { staleRegistration } from "./ingest-events.ts";
import { hasSlots } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { insertJob } from "./open-run.ts";
import { findRun } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

// Whoever is moving the run just now finishes first.
const deleteJobSql = "delete from jobs where env = ? and id = ? returning lane, leased_by";

export async function cancelRun(tx: Transaction, input: CancelInput): Promise<CancelAnswer> {
  const { env, runId, result, releaseKey } = input;
  const run = await findRun(tx.connection, env, runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.ended_state !== null) return { kind: "already-ended", state: run.ended_state };
  const stale = input.ingest === null ? null : await staleRegistration(tx, env, input.ingest.registration);
  if (stale !== null) return stale;
  const claims = await claimsOfRun(tx, env, runId, releaseKey);
  await lockAhead(tx, input.ingest === null ? [] : [{ env, ...input.ingest }], { env, claims });
  const job = await takeJob(tx, env, runId);
  // It may have ended while this waited for its locks.
  const now = await findRun(tx.connection, env, runId);
  if (now === undefined) return { kind: "unknown" };
  if (now.ended_state !== null) return { kind: "already-ended", state: now.ended_state };
  const ingested = input.ingest === null ? null : await ingestNested(tx, env, input.ingest);
  const woken = await endRun(tx, env, runId, asCancelled(result, releaseKey), claims);
  if (input.byHand !== undefined) await writeAudit(tx, env, { action: "cancel-run", subject: runId, ...input.byHand });
  return { kind: "cancelled", woken, ingested, freed: holdsSlots(job) };
}

const takeJob = (tx: Transaction, env: string, runId: string) =>
  tx.connection.one<{ lane: string | null; leased_by: string | null }>(deleteJobSql, env, runId);

const holdsSlots = (job: { lane: string | null; leased_by: string | null } | undefined): boolean =>
  job !== undefined && job.leased_by !== null && hasSlots(job.lane);

const asCancelled = (result: string, releaseKey: boolean) =>
  ({ hadWaits: true, state: "cancelled", result, fence: null, releaseKey }) as const;

/** One singleton run makes room for another, in the transaction that creates it; others hear of its end through the announce job. */
export async function cancelHolder(
  tx: Transaction,
  env: string,
  runId: string,
  { result, releaseKey = false }: { readonly result: string; readonly releaseKey?: boolean },
  out: Writing,
): Promise<void> {
  const claims = await lockClaimsOfRun(tx, env, runId, releaseKey);
  await takeJob(tx, env, runId);
  await endRun(tx, env, runId, asCancelled(result, releaseKey), claims);
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
