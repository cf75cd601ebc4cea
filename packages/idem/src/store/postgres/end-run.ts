// A run ends once. Its job and waits go, its key is settled or given back, and whoever waits for it is woken,
// all in the transaction that says so.
//
// Order of locks, here and wherever a run moves: claims · job · run · the jobs of those who wait for it.
import { type ClaimState, functionScope, singletonScope } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { WokenRun } from "../advance.ts";
import { type WaitRow, waitColumns } from "../rows.ts";
import { forgetRulesSql } from "./cancel-rules.ts";
import { findClaim, lockClaims, writeClaim } from "./claim-key.ts";
import { endWaitAndWake } from "./end-wait.ts";
import type { Transaction } from "./transaction.ts";

const endRunSql = `
  update runs set ended_state = ?, result = ?, ended_at = greatest(cast(? as bigint), created_at), ended_fence = ?
   where env = ? and id = ? and ended_state is null
  returning fn, key, holds_key, singleton, carried, awaited`;

// These columns never change.
const selectKeysSql = "select fn, key, holds_key, singleton, carried from runs where env = ? and id = ?";

const deleteWaitsSql = "delete from waits where env = ? and run_id = ?";

// In the order in which everybody locks runs.
const waitsForChildSql = `
  select * from (select ${waitColumns}, stamp from waits where env = ? and child_run_id = ? offset 0) w order by run_id, stamp`;

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

export interface ClosedClaim {
  readonly scope: string;
  readonly key: string;
  readonly state: ClaimState;
}

/**
 * The claims that the run's end will write. They are locked before anything else of the run is: a newer run of the same singleton key
 * locks the claim first and this run's job second.
 */
export async function claimsOfRun(
  tx: Transaction,
  env: string,
  runId: string,
  releaseKey: boolean,
): Promise<readonly ClosedClaim[]> {
  const run = await tx.connection.one<KeysRow>(selectKeysSql, env, runId);
  if (run === undefined) return [];
  const claims: ClosedClaim[] = [];
  // That a key's run has ended is read from the run; the claim is touched only when it must change.
  if (releaseKey || run.holds_key === 1) {
    const scope = functionScope(run.fn);
    const state = releaseKey ? "released" : "settled";
    for (const key of await keysOf(tx, env, runId, run)) claims.push({ scope, key, state });
  }
  if (run.singleton !== null) claims.push({ scope: singletonScope(run.fn), key: run.singleton, state: "settled" });
  return claims;
}

export async function lockClaimsOfRun(
  tx: Transaction,
  env: string,
  runId: string,
  releaseKey: boolean,
): Promise<readonly ClosedClaim[]> {
  const claims = await claimsOfRun(tx, env, runId, releaseKey);
  await lockClaims(tx, env, claims);
  return claims;
}

/** The run's claims are locked and its job is already gone: whoever ends a run takes its job away first. */
export async function endRun(
  tx: Transaction,
  env: string,
  runId: string,
  ending: Ending,
  claims: readonly ClosedClaim[],
): Promise<WokenRun[]> {
  const { connection, at } = tx;
  const run = await connection.one<{ awaited: number }>(
    endRunSql,
    ending.state,
    ending.result,
    at.now,
    ending.fence,
    env,
    runId,
  );
  if (run === undefined) return [];
  if (ending.hadWaits) {
    connection.write(deleteWaitsSql, env, runId);
    connection.write(forgetRulesSql, env, runId);
  }
  for (const { scope, key, state } of claims) {
    const claim = await findClaim(tx, env, scope, key);
    if (claim?.holder === runId && claim.state === "in-flight") writeClaim(tx, env, { ...claim, state, held: false });
  }
  if (run.awaited === 0) return [];
  const outcome = { kind: ending.state === "completed" ? "value" : "error", json: ending.result } as const;
  const woken: WokenRun[] = [];
  for (const wait of await connection.all<WaitRow>(waitsForChildSql, env, runId)) {
    const parent = await endWaitAndWake(tx, env, wait, outcome);
    if (parent !== null) woken.push(parent);
  }
  return woken;
}

/** A batch holds the keys of all events it carries. */
async function keysOf(tx: Transaction, env: string, runId: string, { key, carried }: KeysRow): Promise<string[]> {
  if (key !== null) return [key];
  if (carried === null) return [];
  return (await tx.connection.all<{ key: string }>(keysOfBatchSql, env, runId)).map((row) => row.key);
}
