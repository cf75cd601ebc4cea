// Tidings of a run, told after the commit that made them true, by the process whose commit it was. A write that was repeated is answered
// once, so its tidings are told once; a replay commits nothing and tells nothing.
import type { Code } from "../execute/function-code.ts";
import type { Patch } from "../execute/ports.ts";
import { wasUnreached } from "../execute/retry.ts";
import type { Decision } from "../model/decision.ts";
import { divergenceWords, isDivergence, readDivergence } from "../model/divergence.ts";
import { fromJson } from "../model/json.ts";
import type { Handled, Tidings } from "../model/tidings.ts";
import { readError } from "../model/user-errors.ts";
import type { Advanced } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";
import { isEndEvent } from "./end-events.ts";
import type { Registry } from "./registry.ts";
import type { RunJob } from "./run-ports.ts";
import type { Telling } from "./telling.ts";

export interface TellingRun {
  readonly telling: Telling;
  readonly registry: Registry;
  readonly env: string;
}

type Told = Pick<RunMemo, "event"> & { readonly run: { readonly id: string; readonly fn: string } };

/**
 * A patch that was committed: its failed attempts and, if it was the last, the end. Without an answer it may have been: attempts that failed
 * are told all the same, for they were made.
 */
export function tellAdvanced(patch: Patch, answer: Advanced | null, memo: Told, code: Code, world: TellingRun): void {
  for (const { name, error, counted, endedAt, retryAt } of patch.attempts ?? []) {
    tellAttempt({ step: name === "" ? null : name, error, attempt: counted, failedAt: endedAt, retryAt });
  }
  if (answer === null) return;
  // On the path of every step: nothing is built unless one failed, or tells of a divergence.
  const { steps } = patch;
  for (let i = 0; steps !== undefined && i < steps.length; i++) {
    const step = steps[i]!;
    const { name, outcome, attempt, endedAt } = step;
    if (isDivergence(step)) {
      const diverged = readDivergence({ ...step, json: outcome.json });
      const reason = divergenceWords(diverged);
      const { name: missing, asked } = diverged;
      world.telling.tell({ kind: "run.diverged", ...factsOf(memo, world), step: missing, asked, reason });
    }
    // Not if another outcome of the step stood already: that one was told.
    if (outcome.kind !== "error" || answer.outcomes[i]?.json !== outcome.json) continue;
    tellAttempt({ step: name, error: outcome.json, attempt, failedAt: endedAt, retryAt: null });
  }
  const { next } = patch;
  if (next.kind === "park")
    world.telling.tell({ kind: "run.parked", ...factsOf(memo, world), reason: next.why.reason });
  if (next.kind !== "end") return;
  if (next.state === "failed" && patch.lastAttempt !== undefined) {
    const { lastAttempt: attempt } = patch;
    tellAttempt({ step: null, error: next.result, attempt, failedAt: answer.now, retryAt: null });
  }
  tellEnd(next.state, next.result, memo, world);

  function tellAttempt(of: {
    readonly step: string | null;
    readonly error: string;
    readonly attempt: number;
    readonly failedAt: number;
    readonly retryAt: number | null;
  }): void {
    const { step, attempt, failedAt, retryAt } = of;
    const error = readError(of.error);
    const facts = { ...factsOf(memo, world), step, failedAt, retryAt, error };
    if (wasUnreached(of.error)) world.telling.tell({ kind: "app.unreachable", ...facts });
    else world.telling.tell({ kind: "attempt.failed", ...facts, attempt, maxAttempts: code.config.retries + 1 });
  }
}

/** A run that was leased after a worker was lost in the middle of it; told once, however often it is looked at before it is entered. */
export function tellTakeover({ lostWorkers, enterAt, memo }: RunJob, world: TellingRun): void {
  if (lostWorkers === 0 || enterAt !== undefined || memo.run.parked !== null) return;
  const worker = memo.run.lost?.worker ?? "";
  world.telling.tell({ kind: "run.taken-over", ...factsOf(memo, world), lostWorkers, worker });
}

/** A run that ended by this process's commit. */
export function tellEnd(
  state: "completed" | "failed" | "cancelled",
  result: string,
  memo: Told,
  world: TellingRun,
): void {
  const { telling } = world;
  // Most ends: nothing is put together unless a program listens.
  if (state !== "failed" && !telling.hears(`run.${state}`) && !(state === "cancelled" && isTimeout(result))) return;
  telling.tell(endOf(state, result, memo, world));
}

function endOf(state: "completed" | "failed" | "cancelled", result: string, memo: Told, world: TellingRun): Tidings {
  const facts = factsOf(memo, world);
  switch (state) {
    case "completed":
      return { kind: "run.completed", ...facts };
    case "failed":
      return { kind: "run.failed", ...facts, error: readError(result), handles: handledBy(memo, world) };
    case "cancelled":
      return { kind: "run.cancelled", ...facts, error: readError(result), isTimeout: isTimeout(result) };
  }
}

/** Events that wait for a person: their function is paused, or their key is missing. */
export function tellWaiting(decisions: readonly Decision[], { telling, registry, env }: TellingRun): void {
  for (const { kind, fn, eventId, reason } of decisions) {
    if (kind !== "paused" && kind !== "held") continue;
    const name = registry.displayName(fn);
    telling.tell({ kind: "events.waiting", env, function: name, eventId, why: kind, reason: reason ?? kind });
  }
}

const isTimeout = (result: string): boolean => /"code":"RUN_(START_)?TIMED_OUT"/.test(result);

const factsOf = ({ run }: Told, { registry, env }: TellingRun) => ({
  env,
  function: registry.displayName(run.fn),
  runId: run.id,
});

/** A run that was started by another's end handles that one. */
function handledBy({ event }: Told, { registry }: TellingRun): Handled | null {
  if (!isEndEvent(event.name)) return null;
  const { function_id: fn, run_id: runId } = fromJson(event.data) as Record<string, unknown>;
  return { function: registry.displayName(String(fn)), runId: String(runId) };
}
