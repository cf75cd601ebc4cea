// A run begins to wait. Where the answer is already there (a finished child, a signal that is taken, a refused invoke) the
// outcome is recorded at once instead, and is news to the caller.
import { isAnswered, isPending } from "../../model/decision.ts";
import type { Outcome } from "../../model/step.ts";
import { type NewWait, standInFor } from "../../model/wait.ts";
import type { AdvanceInput, NewStep } from "../advance.ts";
import type { Ingested } from "../ingest.ts";
import type { RuleTransaction } from "./database.ts";
import { notStarted } from "./end-wait.ts";
import { findRun, newestRerun } from "./read-memo.ts";
import { recordWaited } from "./record-step.ts";
import type { Rule } from "./rule.ts";

const findOutcomeSql = "select 1 from steps where env = ? and run_id = ? and step_id = ?";
const insertWaitSql = `
  insert into waits (env, run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json,
                     event_name, path, value, rest, signal, child_run_id, stamp, started_at, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, run_id, step_id) do nothing`;
const noteWaitSql = "update jobs set had_waits = 1 where env = ? and id = ? and had_waits = 0";
const loseSignalSql = "update waits set signal = null where env = ? and run_id = ? and step_id = ?";

/** Whether an outcome was recorded at once. */
export function* beginWait(
  tx: RuleTransaction,
  { env, runId, ingest: nested }: Pick<AdvanceInput, "env" | "runId" | "ingest">,
  wait: NewWait,
  ingested: Ingested | null,
): Rule<boolean> {
  const recordAtOnce = (childRunId: string | null, outcome: Outcome) =>
    recordWaited(tx, env, runId, childRunId, waitedStep(wait, outcome, tx.at.now));
  if ((yield* tx.one(findOutcomeSql, env, runId, wait.stepId)) !== undefined) return false;
  let childRunId: string | null = null;
  if (wait.kind === "signal") {
    const signal = tx.indexed(wait.signal);
    const holder = yield* tx.one<{ run_id: string; step_id: string }>(tx.sql.waits.signalHolder, env, signal);
    if (holder !== undefined && !(holder.run_id === runId && holder.step_id === wait.stepId)) {
      if (wait.onTaken !== "replace") return yield* recordAtOnce(null, wait.onTaken);
      tx.write(loseSignalSql, env, holder.run_id, holder.step_id);
    }
  }
  if (wait.kind === "run") {
    const pair = nested?.pairs[wait.pair];
    const eventId = pair === undefined ? undefined : nested?.events[pair.event]?.id;
    const decision = ingested?.decisions.find((d) => d.eventId === eventId && d.fn === pair?.fn);
    if (decision !== undefined && isPending(decision)) childRunId = standInFor(decision.eventId, decision.fn);
    else if (decision === undefined || !isAnswered(decision)) {
      const isStart = decision !== undefined && pair?.kind === "start";
      const refused = isStart ? notStarted(decision.fn, decision.reason ?? decision.kind) : wait.onRefused;
      return yield* recordAtOnce(null, refused);
    } else childRunId = yield* newestRerun(tx, env, decision.runId);
    // The run's end is written under the same lock: either it finds this wait, or this finds the end.
    const isOpen = yield* tx.awaitRun(env, childRunId);
    const child = isOpen ? undefined : yield* findRun(tx, env, childRunId);
    if (child !== undefined && child.ended_state !== null) {
      const kind = child.ended_state === "completed" ? "value" : "error";
      return yield* recordAtOnce(childRunId, { kind, json: child.result ?? "null" });
    }
  }
  const stamp = tx.stamp();
  tx.write(noteWaitSql, env, runId);
  tx.write(
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
    wait.kind === "event" ? tx.indexed(wait.value) : null,
    wait.kind === "event" ? wait.rest : null,
    wait.kind === "signal" ? tx.indexed(wait.signal) : null,
    childRunId,
    stamp,
    tx.at.now,
    wait.input ?? null,
  );
  if (wait.kind === "event") tx.noteAwaited(env, wait.eventName, stamp);
  tx.keepStamps();
  return false;
}

/** A wait that was over before it began. */
const waitedStep = (wait: NewWait, outcome: Outcome, now: number): NewStep => ({
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
