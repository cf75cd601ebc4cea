// A person lets a parked run go on: it is due now, and the workers it lost before no longer count.
import type { ParkedKind } from "../../model/run.ts";
import { readRun } from "../rows.ts";
import type { UnparkAnswer, UnparkInput } from "../runs.ts";
import type { RuleTransaction } from "./database.ts";
import { findRun } from "./read-memo.ts";
import type { Rule } from "./rule.ts";

const unparkSql = `
  update jobs set parked_at = null, due_at = null, rank = ?, lost_workers = 0, lost_by = null, lost_at = null, enter_at = null
   where env = ? and id = ? and parked_at is not null and leased_by is null
  returning fn, lane, parked_kind as kind, parked_reason as reason`;

interface Unparked {
  readonly fn: string;
  readonly lane: string | null;
  readonly kind: ParkedKind;
  readonly reason: string;
}

export function* unparkRun(tx: RuleTransaction, { env, runId, byHand }: UnparkInput): Rule<UnparkAnswer> {
  const job = yield* tx.one<Unparked>(unparkSql, tx.at.now, env, runId);
  if (job === undefined) {
    const run = yield* findRun(tx, env, runId);
    return run === undefined ? { kind: "unknown" } : { kind: "not-parked", state: readRun(run).state };
  }
  tx.letGo(env, runId, job.lane);
  if (byHand !== undefined) tx.audit(env, { action: "release-run", subject: runId, ...byHand });
  return { kind: "released", fn: job.fn, from: { kind: job.kind, reason: job.reason } };
}
