// A run begins to wait. Where the answer is already there (a finished child, a signal that is taken, a refused invoke) the
// outcome is recorded at once instead, and is news to the caller.
import { functionScope } from "../../model/claim.ts";
import { isPending } from "../../model/decision.ts";
import type { Outcome } from "../../model/outcome.ts";
import { type NewWait, standInFor } from "../../model/wait.ts";
import type { NestedIngest } from "../advance.ts";
import type { Ingested } from "../ingest.ts";
import { findClaim } from "./claim-key.ts";
import { awaitRunSql } from "./end-wait.ts";
import { notStarted } from "./pending-child.ts";
import { findRun, newestRerun } from "./read-memo.ts";
import { findOutcome, insertWaited } from "./record-step.ts";
import { indexable } from "./text.ts";
import type { Transaction } from "./transaction.ts";

const insertWaitSql = `
  insert into waits (env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
                     event_name, path, value, rest, signal, child_run_id, stamp, started_at, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id) do nothing`;

const noteWaitSql = "update jobs set had_waits = 1 where env = ? and id = ? and had_waits = 0";
const signalHolderSql = "select run_id, step_id from waits where env = ? and signal = ? for update";
const loseSignalSql = "update waits set signal = null where env = ? and run_id = ? and step_id = ?";

const lockRunsSql = "select 1 from runs where env = ? and id = any(cast(? as text[])) order by id for no key update";

/** A child that is there already is locked before the run that begins to wait for it: in this order its end wakes those who wait. */
export async function lockChildren(
  tx: Transaction,
  env: string,
  waits: readonly NewWait[],
  nested: NestedIngest | null,
): Promise<void> {
  const runIds: string[] = [];
  for (const wait of waits) {
    const pair = wait.kind === "run" ? nested?.pairs[wait.pair] : undefined;
    if (pair?.kind !== "start" || pair.key === null || (pair.flow !== null && pair.flow.buffer !== null)) continue;
    const claim = await findClaim(tx, env, functionScope(pair.fn), pair.key);
    if (claim !== null && claim.holder !== pair.runId) {
      runIds.push(await newestRerun(tx.connection, env, claim.holder));
    }
  }
  if (runIds.length > 0) await tx.connection.all(lockRunsSql, env, runIds);
}

/** Whether an outcome was recorded at once. */
export async function beginWait(
  tx: Transaction,
  env: string,
  runId: string,
  wait: NewWait,
  nested: NestedIngest | null,
  ingested: Ingested | null,
): Promise<boolean> {
  if ((await findOutcome(tx, env, runId, wait.stepId)) !== null) return false;
  let childRunId: string | null = null;
  if (wait.kind === "signal") {
    const holder = await tx.connection.one<{ run_id: string; step_id: string }>(
      signalHolderSql,
      env,
      indexable(wait.signal),
    );
    if (holder !== undefined && !(holder.run_id === runId && holder.step_id === wait.stepId)) {
      if (wait.onTaken !== "replace") return recordAtOnce(tx, env, runId, wait, null, wait.onTaken);
      tx.connection.write(loseSignalSql, env, holder.run_id, holder.step_id);
    }
  }
  if (wait.kind === "run") {
    const pair = nested?.pairs[wait.pair];
    const eventId = pair === undefined ? undefined : nested?.events[pair.event]?.id;
    const decision = ingested?.decisions.find((d) => d.eventId === eventId && d.fn === pair?.fn);
    if (decision !== undefined && isPending(decision)) childRunId = standInFor(decision.eventId, decision.fn);
    else if (decision === undefined || decision.runId === null || decision.kind === "singleton-skipped") {
      const isStart = decision !== undefined && pair?.kind === "start";
      return recordAtOnce(
        tx,
        env,
        runId,
        wait,
        null,
        isStart ? notStarted(decision.fn, decision.reason ?? decision.kind) : wait.onRefused,
      );
    } else childRunId = await newestRerun(tx.connection, env, decision.runId);
    // The run's end is written under the same lock: either it finds this wait, or this finds the end.
    const isOpen = (await tx.connection.run(awaitRunSql, env, childRunId)) > 0;
    const child = isOpen ? undefined : await findRun(tx.connection, env, childRunId);
    if (child !== undefined && child.ended_state !== null) {
      const kind = child.ended_state === "completed" ? "value" : "error";
      return recordAtOnce(tx, env, runId, wait, childRunId, { kind, json: child.result ?? "null" });
    }
  }
  tx.connection.write(noteWaitSql, env, runId);
  tx.connection.write(
    insertWaitSql,
    env,
    runId,
    wait.stepId,
    wait.kind,
    wait.stepKind,
    wait.name,
    wait.repeat,
    wait.timeoutAt,
    wait.onTimeout.kind,
    wait.onTimeout.json,
    wait.kind === "event" ? wait.eventName : null,
    wait.kind === "event" ? wait.path : null,
    wait.kind === "event" ? indexable(wait.value) : null,
    wait.kind === "event" ? wait.rest : null,
    wait.kind === "signal" ? indexable(wait.signal) : null,
    childRunId,
    tx.stamp(),
    tx.at.now,
    wait.input ?? null,
  );
  // An event that another node receives from now on comes after it.
  tx.keepStamps();
  return false;
}

function recordAtOnce(
  tx: Transaction,
  env: string,
  runId: string,
  wait: NewWait,
  childRunId: string | null,
  outcome: Outcome,
): Promise<boolean> {
  const { now } = tx.at;
  return insertWaited(tx, env, runId, childRunId, {
    stepId: wait.stepId,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.stepKind,
    outcome,
    attempt: 1,
    startedAt: now,
    endedAt: now,
    input: wait.input ?? null,
  });
}
