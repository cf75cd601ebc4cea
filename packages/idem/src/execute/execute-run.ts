// One pass of one run, from its memo to the next fact: ended, suspended, or lost to someone else.
import type { DestinationOf } from "../dedup/destination-key.ts";
import { type Divergence, divergenceWords } from "../model/divergence.ts";
import { entriesDefault, entriesElsewhere, nextEntry } from "../model/entries.ts";
import { type ErrorCode, errors } from "../model/errors.ts";
import { payloadOf } from "../model/event.ts";
import { fromJson, toJson } from "../model/json.ts";
import type { ParkReason } from "../model/run.ts";
import { serializeError } from "../model/user-errors.ts";
import { calledEvent } from "../protocol/invoked-event.ts";
import { traceparentOf } from "../protocol/traceparent.ts";
import type { EndRun, NewStep } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";
import type { PassLimits } from "./attempt-step.ts";
import { callInProcess } from "./call-in-process.ts";
import { callRemote } from "./call-remote.ts";
import { codeChange } from "./code-of-run.ts";
import { deferredEvents } from "./deferred.ts";
import type { Code, Logger } from "./function-code.ts";
import { divergenceSteps } from "./known-step.ts";
import { Pass } from "./pass.ts";
import type { FailedAttempt, PassResult, RunPorts } from "./ports.ts";
import { RemoteError } from "./remote.ts";
import { nextAttempt, wasUnreached } from "./retry.ts";
import type { RunCall } from "./run-call.ts";
import { Slots } from "./slots.ts";

export interface ExecuteLimits extends PassLimits {
  readonly invokeTimeoutMs: number;
  readonly fetchBytesMax: number;
}

export interface Execution {
  readonly pass: Pass;
  readonly result: Promise<PassResult>;
}

/** Where a function's code writes its lines, and where Idem writes its own. */
export interface Logs {
  readonly given: Logger;
  readonly logger: Logger;
}

/** What the lease says about the time before it. */
export interface LeaseFacts {
  readonly lostWorkers: number;
  readonly enterAt?: number;
  readonly isOverdue?: boolean;
}

// As an app says it of code elsewhere.
const wasConflict: ErrorCode = "STEP_WAS_CONFLICT";

export function executeRun(
  code: Code,
  env: string,
  memo: RunMemo,
  { lostWorkers, enterAt, isOverdue = false }: LeaseFacts,
  ports: RunPorts,
  logs: Logs,
  limits: ExecuteLimits,
): Execution {
  const { config } = code;
  const { run } = memo;
  const startedAt = run.startedAt ?? ports.now();
  const deadlineAt = config.finishTimeoutMs === null ? null : startedAt + config.finishTimeoutMs;
  const attemptsMax = config.retries + 1;
  const { entries = "remote" in code ? entriesElsewhere : entriesDefault } = config;
  const info = { runId: run.id, function: config.id, attempt: 1 };
  const warn = (message: string) => logs.logger.warn(`idem: function "${config.id}", run ${run.id}: ${message}`);
  /** However it goes on, it ends by closing the pass. */
  const goOn = (by: Promise<PassResult>): void => {
    by.catch((error) => pass.finish({ kind: "broken", error }));
  };
  let isStopping = false;
  // Not within the call that found out: the pass is in the middle of a turn.
  const stopBy = (stop: () => Promise<PassResult>): void => {
    if (isStopping) return;
    isStopping = true;
    goOn(Promise.resolve().then(stop));
  };
  const stopForDivergence = (found: readonly Divergence[]): void => stopBy(() => stopDiverged(found));
  const pass = new Pass(ports, memo, limits, {
    conflict: (error) => stopBy(() => stopForConflict(error)),
    attemptsMax,
    lostWorkers,
    backoff: code.backoff,
    deadlineAt,
    divergence: {
      policy: config.onDiverged ?? "warn",
      isWatched: "handler" in code && ports.looksForOne !== true,
      // A server sends outcomes, and not when they came to be.
      hasTimes: ports.beginsHere === undefined,
      stop: stopForDivergence,
    },
    stepTimeoutMs: config.stepTimeoutMs ?? null,
    // A slot of a limit is one step at work, in this run as in all others; where it counts steps, more of them may be had.
    slots: config.concurrency === undefined || ports.slots !== undefined ? null : new Slots(1),
    around:
      code.middleware.length === 0
        ? null
        : async (op, body) => {
            const step = { id: op.name, attempt: op.attempt };
            for (const middleware of code.middleware) await middleware.beforeStep?.(info, step);
            const ran = await body().catch(async (error) => {
              for (const middleware of code.middleware) await middleware.afterStep?.(info, step, { ok: false, error });
              throw error;
            });
            for (const middleware of code.middleware) {
              await middleware.afterStep?.(info, step, { ok: true, value: fromJson(ran.json) });
            }
            return ran;
          },
    warn,
  });
  const ownFailures = memo.attempts.filter((attempt) => attempt.stepId === "");
  const destination: DestinationOf = { env, fn: run.fn, subject: run.subject, generation: run.generation };
  let isStopped = false;
  const result = runToResult();
  return { pass, result };

  function runToResult(): Promise<PassResult> {
    const refusal = refuseToStart();
    if (refusal !== null) return end(refusal);
    // Leased for what ends it, whose time has not quite come by our clock.
    if (run.parked !== null) return park({ kind: run.parked.kind, reason: run.parked.reason });
    const entry = nextEntry({
      lostWorkers,
      enterAt: enterAt ?? null,
      entries,
      reached: ports.reached(),
      chance: ports.random(),
    });
    if (entry.kind === "put-off") return suspend(entry.enterAt, [], entry.enterAt);
    if (entry.kind === "enough") {
      const lost = errors.RUN_LOST_WORKERS({ runId: run.id, count: lostWorkers });
      return entries.onMax === "fail" ? end(ending("failed", serializeError(lost))) : park(parkedForEntries(memo));
    }
    // Whatever woke the run, code that failed is not entered again before its time.
    const retryAt = ownFailures.at(-1)?.retryAt ?? 0;
    if (retryAt > ports.reached()) return suspend(retryAt, []);
    if (deadlineAt !== null) {
      const deadline = ports.timer(Math.max(0, deadlineAt - ports.reached()), () => void cutShort());
      pass.state.onClosed(() => deadline.cancel());
    }
    goOn(callAndConclude());
    return pass.closed;
  }

  /** What makes it pointless to enter the code at all. */
  function refuseToStart(): EndRun | null {
    if (deadlineAt !== null && deadlineAt <= ports.reached()) return timedOut(config.finishTimeoutMs!);
    // An event dated into the future delays its run on purpose.
    const waitedFrom = Math.max(run.createdAt, memo.event.ts);
    if (isOverdue) return neverBegun(startedAt - waitedFrom);
    const firstPass = memo.steps.length === 0 && memo.attempts.length === 0;
    if (config.startTimeoutMs !== null && firstPass && startedAt - waitedFrom > config.startTimeoutMs) {
      return neverBegun(config.startTimeoutMs);
    }
    return null;
  }

  function timedOut(afterMs: number): EndRun {
    return ending("cancelled", serializeError(errors.RUN_TIMED_OUT({ runId: run.id, afterMs })));
  }

  function neverBegun(afterMs: number): EndRun {
    return ending("cancelled", serializeError(errors.RUN_START_TIMED_OUT({ runId: run.id, afterMs })));
  }

  function ending(state: EndRun["state"], json: string): EndRun {
    return {
      kind: "end",
      state,
      result: json,
      releaseKey: state !== "completed" && config.idempotency?.afterFailure === "release",
    };
  }

  /** Its code is not to go on: what runs beside it may end. */
  async function stopDiverged(found: readonly Divergence[]): Promise<PassResult> {
    isStopped = true;
    pass.codeIsOver();
    await pass.idle();
    // What code elsewhere noticed is written down already.
    const untold = found.filter(({ stepId }) => !pass.memo.isToldDiverged(stepId));
    const steps = divergenceSteps(untold, ports.now());
    const reason = found.map(divergenceWords).join("; ");
    if (config.onDiverged === "park") return park({ kind: "diverged", reason }, steps);
    const error = errors.RUN_DIVERGED({ runId: run.id, why: reason });
    await runHooks({ ok: false, error });
    return end(ending("failed", serializeError(error)), { steps });
  }

  /** Two of its steps claim one id: what runs beside them may end, and its author decides. */
  async function stopForConflict({ message }: Error): Promise<PassResult> {
    isStopped = true;
    pass.codeIsOver();
    await pass.idle();
    return park({ kind: "renamed", reason: message });
  }

  async function end(
    next: EndRun,
    { lastAttempt, steps = [] }: { readonly lastAttempt?: number; readonly steps?: readonly NewStep[] } = {},
  ): Promise<PassResult> {
    const before = ports.point("finish:before-commit");
    if (before !== undefined) await before;
    // Only SDKs put work off; other ends need not look for it.
    const sends = "remote" in code ? deferredEvents(pass.memo.recorded, { ...destination, runId: run.id }, made()) : [];
    const answer = await pass.conclude({
      next,
      ...(steps.length === 0 ? {} : { steps }),
      ...(sends.length === 0 ? {} : { sends }),
      ...(lastAttempt === undefined ? {} : { lastAttempt }),
    });
    // Where steps begin elsewhere the end is told to others, and this is all that is heard of it here.
    if (answer !== null || ports.beginsHere !== undefined) pass.tellUnheard();
    if (answer === null) return pass.closed;
    ports.plans.forget(run.id);
    pass.finish({ kind: "ended", end: next });
    return pass.closed;
  }

  function made() {
    return { newId: () => ports.newId(), now: ports.now() };
  }

  /** The time for the whole run is over: steps in the middle are told by their signal, and their outcome is dropped. */
  async function cutShort(): Promise<void> {
    const next = timedOut(config.finishTimeoutMs!);
    if ((await pass.cutShort({ next })) !== null) pass.finish({ kind: "ended", end: next });
  }

  async function park(why: ParkReason, steps: readonly NewStep[] = []): Promise<PassResult> {
    const next = { kind: "park", why, dueAt: deadlineAt } as const;
    const answer = await pass.conclude(steps.length === 0 ? { next } : { steps, next });
    if (answer !== null) pass.finish({ kind: "parked", why });
    return pass.closed;
  }

  async function suspend(retryAt: number, attempts: readonly FailedAttempt[], enterAt?: number): Promise<PassResult> {
    const dueAt = deadlineAt === null ? retryAt : Math.min(retryAt, deadlineAt);
    const answer = await pass.conclude({
      attempts,
      next: { kind: "suspend", dueAt, ...(enterAt === undefined ? {} : { enterAt }) },
    });
    if (answer !== null) pass.finish({ kind: "suspended", dueAt });
    return pass.closed;
  }

  async function callAndConclude(): Promise<PassResult> {
    // Failures of the code between steps count from the last recorded step on.
    const lastStamp = memo.steps.at(-1)?.stamp ?? 0;
    const failuresSince = ownFailures.filter((attempt) => attempt.stamp > lastStamp);
    const unreached = failuresSince.filter(({ error }) => wasUnreached(error)).length;
    const attempt = failuresSince.length - unreached + 1;
    info.attempt = attempt;
    const startedAttemptAt = ports.now();
    const seen = "remote" in code ? calledEvent : payloadOf;
    const event = seen(memo.event);
    // A server knows which code its apps had; they are only told what to do.
    const change = ports.beginsHere === undefined ? codeChange(memo, code, startedAttemptAt) : null;
    if (change !== null) await pass.note([change]);
    if (pass.isOver) return pass.closed;
    try {
      const call: RunCall = {
        pass,
        ports,
        destination,
        limits,
        runId: run.id,
        event,
        events: memo.events.length === 1 ? [event] : memo.events.map(seen),
        inputs: memo.inputs,
        attempt,
        maxAttempts: attemptsMax,
      };
      const value = await ("remote" in code
        ? callRemote({
            ...call,
            code,
            traceparentOf: (requestId) => traceparentOf({ runId: run.id, requestId }, memo.event),
            stop: stopForDivergence,
          })
        : callInProcess(call, code, warn, logs.given));
      if (isStopped) return await pass.closed;
      pass.codeIsOver();
      if (!pass.isIdle) await pass.idle();
      const json = toJson(value, `The value returned by function "${config.id}"`);
      if (Buffer.byteLength(json) > limits.stepBytesMax) {
        throw errors.STEP_TOO_LARGE({
          step: "(the function's return value)",
          bytes: Buffer.byteLength(json),
          max: limits.stepBytesMax,
        });
      }
      const diverged = pass.divergedAtReturn();
      if (diverged.length > 0 && config.onDiverged !== undefined) return await stopDiverged(diverged);
      if (code.middleware.length > 0) await runHooks({ ok: true, value });
      return await end(ending("completed", json), { steps: divergenceSteps(diverged, ports.now()) });
    } catch (error) {
      if (isStopped) return pass.closed;
      ports.trace?.threw(error);
      pass.codeIsOver();
      await pass.idle();
      // Only of code elsewhere: what is thrown here may refuse to say what it is.
      if ("remote" in code && error instanceof RemoteError && error.code === wasConflict) return stopForConflict(error);
      const now = ports.now();
      const counted = pass.progressed ? 1 : attempt;
      const next = nextAttempt(
        {
          error,
          attempt: counted,
          unreached: pass.progressed ? 0 : unreached,
          attemptsMax,
          now,
          chance: ports.random(),
        },
        code.backoff,
      );
      await runHooks({ ok: false, error });
      if (next.kind === "final") return end(ending("failed", serializeError(error)), { lastAttempt: counted });
      const failed: FailedAttempt = {
        stepId: "",
        name: "",
        attempt: ownFailures.length + 1,
        error: serializeError(error),
        startedAt: startedAttemptAt,
        endedAt: now,
        retryAt: next.atMs,
        counted,
      };
      return suspend(next.atMs, [failed]);
    }
  }

  async function runHooks(outcome: { ok: true; value: unknown } | { ok: false; error: unknown }): Promise<void> {
    if (pass.isOver) return;
    for (const middleware of code.middleware) {
      try {
        await middleware.afterRun?.(info, outcome);
      } catch (error) {
        // The run's own result stands; a hook that only watches must not change it.
        logs.logger.error(`middleware ${middleware.name ?? ""} afterRun failed`, error);
      }
    }
  }
}

/** Why a run that lost its worker again and again is left to a person, in words. */
function parkedForEntries({ run, steps }: RunMemo): ParkReason {
  const count = run.lost?.count ?? 0;
  const times = count === 1 ? "once" : `${count} times in a row`;
  const last = steps.at(-1)?.name;
  const where = last === undefined ? "" : ` after step "${last}"`;
  return {
    kind: "entries",
    reason: `its code was entered ${times}${where} without an outcome: it probably ends its process (out of memory, process.exit) or stops it for minutes`,
  };
}
