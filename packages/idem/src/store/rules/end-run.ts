// A run ends once. Its job and waits go, its key is settled or given back, and runs that wait for it are woken,
// all in the transaction that says so.
//
// Order of locks, here and wherever a run moves: claims · job · run · the jobs of those who wait for it.

import { singletonScope } from "../../flow/singleton/plan.ts";
import { functionScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { WokenRun } from "../advance.ts";
import type { WaitRow } from "../rows.ts";
import type { ClosedClaim, RuleTransaction } from "./database.ts";
import { endWaitAndWake } from "./end-wait.ts";
import type { Rule } from "./rule.ts";

// These columns never change.
const selectKeysSql = "select fn, key, holds_key, singleton, carried from runs where env = ? and id = ?";
const deleteWaitsSql = "delete from waits where env = ? and run_id = ?";
const forgetRulesSql = "delete from cancels where env = ? and run_id = ?";
const keysOfBatchSql = "select key from run_events where env = ? and run_id = ? and key is not null";

interface KeysRow {
  fn: string;
  key: string | null;
  holds_key: number;
  singleton: string | null;
  carried: number | null;
}

export interface Ending {
  readonly state: EndState;
  readonly result: string;
  readonly fence: number | null;
  readonly releaseKey: boolean;
  /** Whether the run ever began to wait: most never do, and need no look. */
  readonly hadWaits: boolean;
}

/**
 * The claims that the run's end will write. They are locked before anything else of the run is: a newer run of the same singleton key
 * locks the claim first and this run's job second.
 */
export function* claimsOfRun(
  tx: RuleTransaction,
  env: string,
  runId: string,
  releaseKey: boolean,
): Rule<readonly ClosedClaim[]> {
  const run = yield* tx.one<KeysRow>(selectKeysSql, env, runId);
  return run === undefined ? [] : yield* closedWith(tx, env, runId, run, releaseKey);
}

/** Most runs have none to write at their end. */
const hasClaims = (run: KeysRow, releaseKey: boolean): boolean =>
  releaseKey || run.holds_key === 1 || run.singleton !== null;

function* closedWith(
  tx: RuleTransaction,
  env: string,
  runId: string,
  run: KeysRow,
  releaseKey: boolean,
): Rule<readonly ClosedClaim[]> {
  const claims: ClosedClaim[] = [];
  // That a key's run has ended is read from the run. The claim lies on a page that nothing else of this commit writes, so it is touched
  // only when it must change: a page less to write for every run.
  if (releaseKey || run.holds_key === 1) {
    const scope = functionScope(run.fn);
    const state = releaseKey ? "released" : "settled";
    for (const key of yield* keysOf(tx, env, runId, run)) claims.push({ scope, key, state });
  }
  if (run.singleton !== null) claims.push({ scope: singletonScope(run.fn), key: run.singleton, state: "settled" });
  return claims;
}

/** A batch holds the keys of all events it carries. */
function* keysOf(tx: RuleTransaction, env: string, runId: string, { key, carried }: KeysRow): Rule<string[]> {
  if (key !== null) return [key];
  if (carried === null) return [];
  return (yield* tx.all<{ key: string }>(keysOfBatchSql, env, runId)).map((row) => row.key);
}

/**
 * The run's job is already gone: callers take it away first. `claims`: those that were locked before it; null where one
 * writer needs no locks, and the run's own row says which they are.
 */
export function* endRun(
  tx: RuleTransaction,
  env: string,
  runId: string,
  ending: Ending,
  claims: readonly ClosedClaim[] | null,
): Rule<WokenRun[]> {
  const { state, result, fence } = ending;
  const run = yield* tx.one<KeysRow & { awaited: number; created_at: number; started_at: number | null }>(
    tx.sql.runs.end,
    state,
    result,
    tx.at.now,
    fence,
    env,
    runId,
  );
  if (run === undefined) return [];
  tx.ended(env, { fn: run.fn, state, createdAt: run.created_at, startedAt: run.started_at });
  if (ending.hadWaits) {
    tx.write(deleteWaitsSql, env, runId);
    tx.write(forgetRulesSql, env, runId);
  }
  for (const claim of claims ??
    (hasClaims(run, ending.releaseKey) ? yield* closedWith(tx, env, runId, run, ending.releaseKey) : [])) {
    yield* tx.closeClaim(env, claim, runId);
  }
  if (run.awaited === 0 || !tx.mayHaveParent(env, runId)) return [];
  const outcome = { kind: state === "completed" ? "value" : "error", json: result } as const;
  const woken: WokenRun[] = [];
  for (const wait of yield* tx.all<WaitRow>(tx.sql.waits.forChild, env, runId)) {
    const parent = yield* endWaitAndWake(tx, env, wait, outcome);
    if (parent !== null) woken.push(parent);
  }
  return woken;
}
