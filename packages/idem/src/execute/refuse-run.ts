// Reasons not to enter a run's code, and the ends of runs that were not entered, or not to their end. Pure.
import { errors } from "../model/errors.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import type { ParkReason } from "../model/run.ts";
import { serializeError } from "../model/user-errors.ts";
import type { EndRun } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";

/** Null where it may be entered. */
export function refusedToStart(
  { startedAt, deadlineAt }: { readonly startedAt: number; readonly deadlineAt: number | null },
  memo: RunMemo,
  { isOverdue = false }: { readonly isOverdue?: boolean },
  config: FunctionConfig,
  reached: number,
): EndRun | null {
  const { run } = memo;
  if (deadlineAt !== null && deadlineAt <= reached) return timedOut(run.id, config);
  // An event dated into the future delays its run on purpose.
  const waitedFrom = Math.max(run.createdAt, memo.event.ts);
  if (isOverdue) return neverBegun(run.id, startedAt - waitedFrom, config);
  const { startTimeoutMs } = config;
  const isFirst = memo.steps.length === 0 && memo.attempts.length === 0;
  if (startTimeoutMs === null || !isFirst || startedAt - waitedFrom <= startTimeoutMs) return null;
  return neverBegun(run.id, startTimeoutMs, config);
}

export function timedOut(runId: string, config: FunctionConfig): EndRun {
  const late = errors.RUN_TIMED_OUT({ runId, afterMs: config.finishTimeoutMs! });
  return ending("cancelled", serializeError(late), config);
}

const neverBegun = (runId: string, afterMs: number, config: FunctionConfig): EndRun =>
  ending("cancelled", serializeError(errors.RUN_START_TIMED_OUT({ runId, afterMs })), config);

export function ending(state: EndRun["state"], json: string, { idempotency }: FunctionConfig): EndRun {
  const releaseKey = state !== "completed" && idempotency?.afterFailure === "release";
  return { kind: "end", state, result: json, releaseKey };
}

/** Why a run that lost its worker again and again is left to a person, in words. */
export function parkedForEntries({ run, steps }: RunMemo): ParkReason {
  const count = run.lost?.count ?? 0;
  const times = count === 1 ? "once" : `${count} times in a row`;
  const last = steps.at(-1)?.name;
  const where = last === undefined ? "" : ` after step "${last}"`;
  return {
    kind: "entries",
    reason: `its code was entered ${times}${where} without an outcome: it probably ends its process (out of memory, process.exit) or stops it for minutes`,
  };
}
