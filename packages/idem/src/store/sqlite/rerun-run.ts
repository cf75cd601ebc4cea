// A person asks for a new run from an old one: past event id and function key, with the same destination keys.
// The key's holder becomes the new run, so that duplicates receive it from now on.
import { functionScope } from "../../model/claim.ts";
import type { RerunAnswer, RerunInput } from "../store.ts";
import { findClaim, writeClaim } from "./claim-key.ts";
import { openRun } from "./open-run.ts";
import { findRun, readMemo } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";

const pointToNewestSql = "update runs set newest_run_id = ? where env = ? and id = ?";

export function rerunRun(tx: Transaction, input: RerunInput): RerunAnswer {
  const { env, newRunId } = input;
  if (findRun(tx.connection, env, newRunId) !== undefined) return { kind: "started", runId: newRunId, leased: null };
  const old = findRun(tx.connection, env, input.runId);
  if (old === undefined) return { kind: "unknown" };
  const opened = openRun(tx, env, {
    id: newRunId,
    fn: old.fn,
    eventId: old.event_id,
    key: old.key,
    subject: old.subject,
    generation: old.generation,
    previousRunId: null,
    rerunOf: old.id,
    rootRunId: old.root_run_id,
    rank: input.rank,
    dueAt: null,
    leaseTo: input.leaseTo,
  });
  tx.connection.run(pointToNewestSql, newRunId, env, old.root_run_id);
  if (old.key !== null) {
    const claim = findClaim(tx, env, functionScope(old.fn), old.key);
    const holder = claim === null ? undefined : findRun(tx.connection, env, claim.holder);
    if (claim !== null && holder?.root_run_id === old.root_run_id) {
      writeClaim(tx, env, { ...claim, holder: newRunId, fence: claim.fence + 1, state: "in-flight" }, true);
    }
  }
  if (opened.fence === null) return { kind: "started", runId: newRunId, leased: null };
  const memo = readMemo(tx.connection, env, newRunId)!;
  return {
    kind: "started",
    runId: newRunId,
    leased: { kind: "run", jobId: newRunId, fence: opened.fence, lostWorkers: 0, memo },
  };
}
