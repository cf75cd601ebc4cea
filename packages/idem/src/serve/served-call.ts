// One call of the server, executed as any pass is. Commits of a pass go over the wire instead of to a store:
//
//   an outcome ──▶ checkpoint, and the code goes on once the server has it ──▶ … ──▶ the run's end is the answer
//   waits, steps side by side, a failed attempt, an outcome that cannot be checkpointed ──▶ they are the answer
//
// The server decides about retries and keeps the order of things; what it records is what the next call brings back.
import { limits } from "../engine/limits.ts";
import { Execution } from "../execute/execution.ts";
import type { FunctionCode } from "../execute/function-code.ts";
import type { FoundStep, Patch, RunPorts } from "../execute/ports.ts";
import { isDivergence } from "../model/divergence.ts";
import type { ErrorCode } from "../model/errors.ts";
import { functionSlug } from "../model/function-config.ts";
import { type TracedRun, traceRun } from "../observe/trace-run.ts";
import type { Tracing } from "../observe/tracing.ts";
import {
  type AppAnswer,
  type Beside,
  completeOp,
  type Failure,
  internalAnswer,
  type OpIds,
  type OpText,
  opsAnswer,
  plannedOp,
  ranOp,
  returnedAnswer,
  staleAnswer,
  stepNotFoundAnswer,
  threwAnswer,
  threwOp,
} from "../protocol/app-answer.ts";
import type { AppCall } from "../protocol/app-call.ts";
import type { TracePoint } from "../protocol/traceparent.ts";
import type { ServedClient } from "../sdk/remote-client.ts";
import type { AdvanceAnswer, EndRun, NewFailedAttempt, NewStep } from "../store/advance.ts";
import { memoOf } from "./call-memo.ts";
import { type CheckpointOf, checkpoint } from "./checkpoint.ts";
import { waitOp } from "./wait-ops.ts";

export interface CallOf {
  readonly call: AppCall;
  readonly code: FunctionCode;
  readonly served: ServedClient;
  readonly requestId: string | null;
  readonly generation: number | null;
  /** After this no further step begins here: the server makes a new call for it. Null when steps are not checkpointed. */
  readonly maxRuntimeMs: number | null;
  readonly tracing: Tracing;
  /** The span of the call, where the server named one. */
  readonly calledBy: TracePoint | null;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly ports: CallPorts;
}

/** Independent of where steps are kept. */
export type CallPorts = Omit<RunPorts, "advance" | "beginsHere" | "isHeld" | "reached">;

// As long as other SDKs look for a step (docs/reference/wire.md#an-answer): code that awaits something of its own may come to it late.
const searchMs = 10_000;

export function answerCall(of: CallOf): Promise<AppAnswer> {
  return new ServedCall(of).answer();
}

class ServedCall {
  private reply: AppAnswer | null = null;
  /** Waits the code came to, written once it is known whether each stands alone. */
  private readonly waiting = new Map<string, (beside: Beside) => OpText>();
  private readonly planned = new Map<string, FoundStep>();
  private readonly failed = new Map<string, OpText>();
  private failure: Failure | null = null;
  /** Steps the code came to in a call for another one. */
  private readonly passed: OpIds[] = [];
  private readonly begun = new Map<string, FoundStep>();
  private isSought: boolean;
  private onFound: () => void = () => {};
  private execution!: Execution;
  private trace: TracedRun | null = null;
  private outcome = "waiting";
  private readonly startedMono: number;
  private readonly checkpoints: CheckpointOf | null;
  private readonly open: ReadonlySet<string>;

  constructor(private readonly of: CallOf) {
    const { call, served, ports } = of;
    this.startedMono = served.platform.monoMs();
    this.isSought = call.target !== null;
    this.open = new Set(call.target === null ? call.open : [...call.open, call.target]);
    const { runId } = call;
    const { requestId, generation } = of;
    const mayGoOn = call.target === null && !call.planOnly && of.maxRuntimeMs !== null;
    this.checkpoints =
      mayGoOn && call.checkpoint !== null
        ? { runId, ...call.checkpoint, requestId, generation, startedAt: ports.now() }
        : null;
  }

  async answer(): Promise<AppAnswer> {
    const { call, code, served, signal, ports } = this.of;
    const destination = call.destination ?? {
      // A server that does not say what keys are made of: the same on every retry, another in a rerun.
      env: served.server.options.env,
      fn: code.fn,
      subject: call.runId,
      generation: call.runId,
    };
    const memo = memoOf(call, destination, ports.now());
    this.trace = traceRun({
      tracing: this.of.tracing,
      env: destination.env,
      memo,
      name: code.config.id,
      parent: this.of.calledBy,
      waitsElsewhere: true,
    });
    this.execution = new Execution(
      this.codeOfCall(),
      destination.env,
      memo,
      { lostWorkers: 0 },
      this.ports(),
      served.logs,
      limits,
    );
    const { pass } = this.execution;
    this.execution.enter();
    const search = this.isSought ? served.platform.timer(searchMs, () => this.giveUpSearch()) : null;
    const leave = () => pass.giveUp("the server no longer waits for the answer");
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      const ended = await pass.closed;
      if (this.reply !== null) return this.reply;
      if (ended.kind === "broken") throw ended.error;
      return internalAnswer(500, "CallLost", ended.kind === "lost" ? ended.why : "the call came to no answer");
    } finally {
      search?.cancel();
      this.trace?.over(this.outcome);
      signal.removeEventListener("abort", leave);
    }
  }

  /** The same code under the server's rules: it counts attempts and watches the clock. */
  private codeOfCall(): FunctionCode {
    const { code, call } = this.of;
    const retries = call.attemptsMax === null ? Number.POSITIVE_INFINITY : call.attemptsMax - 1;
    return {
      ...code,
      // The server has its table; an author's own delays are passed on to it.
      backoff: code.backoff ?? (() => 0),
      config: { ...code.config, retries, startTimeoutMs: null, finishTimeoutMs: null },
    };
  }

  private ports(): RunPorts {
    const { ports, call } = this.of;
    return {
      ...ports,
      ...(this.trace === null ? {} : { trace: this.trace }),
      stepId: (name, repeat) => {
        const id = ports.stepId(name, repeat);
        if (this.isSought && id === call.target) this.onFound();
        return id;
      },
      isOpenElsewhere: (stepId) => this.open.has(stepId),
      reached: () => ports.now(),
      isHeld: () => true,
      advance: (patch, _seen, _log, to) => {
        void this.advance(patch).then(
          (answer) => to.answered(answer),
          (error) => to.failed(error),
        );
      },
      looksForOne: call.target !== null,
      beginsHere: (step, beside) => this.beginsHere(step, beside),
    };
  }

  private beginsHere(step: FoundStep, beside: number): boolean {
    const { call } = this.of;
    const begins = call.target === null ? this.mayBegin(beside) : step.stepId === call.target;
    if (!begins) {
      if (call.target === null) this.planned.set(step.stepId, step);
      else this.passed.push(step);
      return false;
    }
    this.isSought = false;
    if (this.begun.size === 0) {
      // The call's attempts are those of the step it was made for, which is the first to begin.
      for (let i = 0; i < call.attempt; i++) this.execution.pass.memo.fail(step.stepId, step.name, 0, false);
    }
    this.begun.set(step.stepId, step);
    return true;
  }

  /** A step alone begins at once. Side by side each has a call of its own: with its own attempts, on whichever machine. */
  private mayBegin(beside: number): boolean {
    const { call, served, maxRuntimeMs } = this.of;
    if (call.planOnly || beside > 0) return false;
    return this.begun.size === 0 || served.platform.monoMs() - this.startedMono < (maxRuntimeMs ?? 0);
  }

  // ------------------------------------------------------------------------------------------------ what is committed

  private async advance({ steps = [], attempts = [], waits = [], next }: Patch): Promise<AdvanceAnswer> {
    for (const wait of waits) this.noteWait(wait);
    const own = attempts.find(({ stepId }) => stepId === "");
    for (const attempt of attempts) if (attempt !== own) this.noteFailed(attempt);
    if (steps.length > 0) {
      const stopped = await this.record(steps);
      if (stopped !== null) return stopped;
    }
    switch (next.kind) {
      case "continue":
        return advanced(steps, true, this.of.ports.now());
      // The server counts and parks; two steps of one id it cannot see by itself.
      case "park":
        if (next.why.kind !== "renamed") return this.settle(this.opsSoFar());
        return this.settle(threwAnswer(conflictJson(next.why.reason), { isFinal: true, retryMs: null }));
      case "suspend":
        if (this.isSought) return this.search();
        return this.settle(own === undefined ? this.opsSoFar() : threwAnswer(own.error, this.failureOf(own)));
      case "end":
        this.outcome = next.state;
        return this.settle(this.endAnswer(next));
    }
  }

  /** Null when the code may go on: the server has the steps. */
  private async record(steps: readonly NewStep[]): Promise<AdvanceAnswer | null> {
    const ran = steps.filter(({ outcome }) => outcome.kind === "value");
    const ops = ran.map((step) => ranOp({ ...step, json: step.outcome.json }));
    if (ran.length < steps.length) {
      const threw = steps.filter((step) => !ran.includes(step));
      const failures = threw.map((step) => threwOp(step, step.outcome.json, true));
      return this.settle(opsAnswer([...ops, ...failures], { isFinal: true, retryMs: null }));
    }
    // A step that needed several attempts is the answer: the next one begins with all of its own. So is a divergence after which the
    // run is not to go on: the server sees to that.
    const isStopped = this.of.code.config.onDiverged !== undefined && steps.some(isDivergence);
    if (this.checkpoints === null || this.of.call.attempt > 0 || isStopped) return this.settle(opsAnswer(ops));
    const { served, ports, signal } = this.of;
    const done = await checkpoint(served.server, this.checkpoints, ops, ports.now(), signal);
    if (done === "stale") return this.settle(staleAnswer());
    return done === "taken" ? null : this.settle(opsAnswer(ops));
  }

  private noteWait(wait: NonNullable<Patch["waits"]>[number]): void {
    if (this.of.call.target !== null) this.passed.push(wait.wait);
    else this.waiting.set(wait.wait.stepId, (beside) => waitOp(wait, (target) => this.slugOf(target), beside));
  }

  private noteFailed(attempt: NewFailedAttempt): void {
    const { kind = "run", repeat = 0 } = this.begun.get(attempt.stepId) ?? {};
    this.failed.set(attempt.stepId, threwOp({ ...attempt, kind, repeat }, attempt.error, false));
    this.failure = this.failureOf(attempt);
  }

  private opsSoFar(): AppAnswer {
    const race = this.waiting.size + this.planned.size > 1;
    const waits = [...this.waiting.values()].map((write) => write({ race }));
    return opsAnswer([...waits, ...this.plannedOps(race), ...this.failed.values()], this.failure);
  }

  private plannedOps(race: boolean): OpText[] {
    return [...this.planned.values()].map((step) => plannedOp(step, { race }));
  }

  private endAnswer(end: EndRun): AppAnswer {
    const { call } = this.of;
    if (call.target !== null) return stepNotFoundAnswer(call.target, this.passed);
    if (end.state !== "completed") return threwAnswer(end.result, { isFinal: true, retryMs: null });
    // Steps the code did not wait for are begun all the same, as they are in one process.
    if (this.planned.size > 0) return opsAnswer([...this.plannedOps(true), completeOp(end.result)]);
    return this.checkpoints === null ? returnedAnswer(end.result) : opsAnswer([completeOp(end.result)]);
  }

  /** Null leaves the time to the server, as it is meant where the author said nothing of it. */
  private failureOf({ retryAt, endedAt }: NewFailedAttempt): Failure {
    const retryMs = retryAt - endedAt;
    return { isFinal: false, retryMs: this.of.code.backoff !== null || retryMs > 0 ? Math.max(0, retryMs) : null };
  }

  private slugOf(idOrSlug: string): string {
    const { codes, id } = this.of.served;
    return codes().some(({ config }) => config.id === idOrSlug) ? functionSlug(id, idOrSlug) : idOrSlug;
  }

  // ------------------------------------------------------------------------------------------------ the step asked for

  /** The code waits for other steps and has not come to this one: it may still, after something of its own. */
  private async search(): Promise<AdvanceAnswer> {
    await new Promise<void>((resolve) => {
      this.onFound = resolve;
    });
    return this.reply === null ? advanced([], true, this.of.ports.now()) : { kind: "fenced" };
  }

  private giveUpSearch(): void {
    if (!this.isSought) return;
    this.reply = stepNotFoundAnswer(this.of.call.target!, this.passed);
    this.onFound();
    this.execution.pass.giveUp("the step was not found");
  }

  /** The answer is known: whatever the code does from here on is nobody's business. */
  private settle(reply: AppAnswer): AdvanceAnswer {
    this.reply ??= reply;
    return { kind: "fenced" };
  }
}

const conflictJson = (message: string): string =>
  JSON.stringify({ name: "IdemError", message, code: "STEP_WAS_CONFLICT" satisfies ErrorCode });

const advanced = (steps: readonly NewStep[], leased: boolean, now: number): AdvanceAnswer => ({
  kind: "advanced",
  now,
  seen: 0,
  outcomes: steps.map(({ outcome }) => outcome),
  news: [],
  stamps: null,
  leased,
  ingested: null,
  woken: [],
  freed: false,
});
