// A person or a rule ends a run. After the answer no job or wait of it exists; a worker in the middle finds its fence gone.
import type { CancelAnswer, CancelInput } from "../runs.ts";
import { asCancelled, takeJob } from "./cancel-holder.ts";
import type { RuleTransaction } from "./database.ts";
import { claimsOfRun, endRun } from "./end-run.ts";
import { ingestNested } from "./ingest-events.ts";
import { findRun } from "./read-memo.ts";
import type { Rule } from "./rule.ts";

export function* cancelRun(tx: RuleTransaction, input: CancelInput): Rule<CancelAnswer> {
  const { env, runId, result, releaseKey, ingest } = input;
  const run = yield* findRun(tx, env, runId);
  if (run === undefined) return { kind: "unknown" };
  if (run.ended_state !== null) return { kind: "already-ended", state: run.ended_state };
  const stale = ingest === null ? null : yield* tx.staleRegistration(env, ingest.registration);
  if (stale !== null) return stale;
  const claims = yield* claimsOfRun(tx, env, runId, releaseKey);
  yield* tx.lockAhead(ingest === null ? [] : [{ env, ...ingest }], { env, claims });
  // A call that is moving the run finishes first; the run may have ended by then.
  yield* tx.lockJob(env, runId);
  const now = yield* findRun(tx, env, runId);
  if (now === undefined) return { kind: "unknown" };
  if (now.ended_state !== null) return { kind: "already-ended", state: now.ended_state };
  const ingested = ingest === null ? null : yield* ingestNested(tx, env, ingest);
  const freed = yield* takeJob(tx, env, runId);
  const woken = yield* endRun(tx, env, runId, asCancelled(result, releaseKey), claims);
  if (input.byHand !== undefined) tx.audit(env, { action: "cancel-run", subject: runId, ...input.byHand });
  return { kind: "cancelled", woken, freed, ingested };
}
