// A person or a rule ends a run. After the answer no job or wait of it exists; a worker in the middle finds its fence gone.
import type { CancelAnswer, CancelInput } from "../store.ts";
import { ingestNested } from "./advance-run.ts";
import { endRun } from "./end-run.ts";
import { staleRegistration } from "./ingest-events.ts";
import { findRun } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";

const deleteJobSql = "delete from jobs where env = ? and id = ?";

export function cancelRun(tx: Transaction, input: CancelInput): CancelAnswer {
  const run = findRun(tx.connection, input.env, input.runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.ended_state !== null) return { kind: "already-ended", state: run.ended_state };
  const stale = input.ingest === null ? null : staleRegistration(tx, input.env, input.ingest.registration);
  if (stale !== null) return stale;
  const ingested = input.ingest === null ? null : ingestNested(tx, input.env, input.ingest);
  tx.connection.run(deleteJobSql, input.env, input.runId);
  const woken = endRun(tx, input.env, input.runId, {
    hadWaits: true,
    state: "cancelled",
    result: input.result,
    fence: null,
    releaseKey: input.releaseKey,
  });
  return { kind: "cancelled", woken, ingested };
}
