// One pass of one run, from its memo to the next fact: ended, suspended, or lost to someone else.
import type { DestinationOf } from "../dedup/destination-key.ts";
import { type Divergence, divergenceWords } from "../model/divergence.ts";
import { entriesDefault, entriesElsewhere, nextEntry } from "../model/entries.ts";
import { type ErrorCode, errors, type IdemError } from "../model/errors.ts";
import { payloadOf } from "../model/event.ts";
import { toJson } from "../model/json.ts";
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
import type { Code, Logger, RemoteCode } from "./function-code.ts";
import { divergenceSteps } from "./known-step.ts";
import { Pass } from "./pass.ts";
import type { PassOptions } from "./pass-options.ts";
import type { FailedAttempt, Patch, RunPorts } from "./ports.ts";
import { ending, parkedForEntries, refusedToStart, timedOut } from "./refuse-run.ts";
import { RemoteError } from "./remote.ts";
import { type Backoff, nextAttempt, wasUnreached } from "./retry.ts";
import type { RunCall } from "./run-call.ts";
import { RunHooks, type RunOutcome } from "./run-hooks.ts";
import { Slots } from "./slots.ts";

export interface ExecuteLimits extends PassLimits {
  readonly invokeTimeoutMs: number;
  readonly fetchBytesMax: number;
}

/** `given`: for lines of a function's code. `logger`: for Idem's own. */
export interface Logs {
  readonly given: Logger;
  readonly logger: Logger;
}

/** The facts of a lease about the time before it. */
export interface LeaseFacts {
  readonly lostWorkers: number;
  readonly enterAt?: number;
  readonly isOverdue?: boolean;
}

// As an app says it of code elsewhere.
const wasConflict: ErrorCode = "STEP_WAS_CONFLICT";

/** Enters the code by `enter`; the pass says how it ended. */
export class Execution implements RunCall, PassOptions {
  readonly pass: Pass;
  readonly runId: string;
  readonly destination: DestinationOf;
  readonly inputs: RunMemo["inputs"];
  readonly maxAttempts: number;
  readonly deadlineAt: number | null;
  readonly slots: Slots | null;
  readonly divergence: PassOptions["divergence"];
  event: RunCall["event"] = {};
  events: RunCall["events"] = none;
  attempt = 1;
  readonly startedAt: number;
  /** Failed attempts of the code between steps. */
  private readonly ownFailures: RunMemo["attempts"];
  /** Of the attempts since the last recorded step: how often the app could not be reached. */
  private unreached = 0;
  private enteredAt = 0;
  private isStopping = false;
  private isStopped = false;
  private readonly hooks: RunHooks | null;

  constructor(
    private readonly code: Code,
    env: string,
    private readonly memo: RunMemo,
    private readonly lease: LeaseFacts,
    readonly ports: RunPorts,
    private readonly logs: Logs,
    readonly limits: ExecuteLimits,
  ) {
    const { config } = code;
    const { run } = memo;
    this.runId = run.id;
    this.destination = { env, fn: run.fn, subject: run.subject, generation: run.generation };
    this.inputs = memo.inputs;
    this.maxAttempts = config.retries + 1;
    this.startedAt = run.startedAt ?? ports.now();
    this.deadlineAt = config.finishTimeoutMs === null ? null : this.startedAt + config.finishTimeoutMs;
    // A slot of a limit is one step at work, in this run as in all others; where it counts steps, more of them may be had.
    this.slots = config.concurrency === undefined || ports.slots !== undefined ? null : new Slots(1);
    this.divergence = {
      policy: config.onDiverged ?? "warn",
      isWatched: "handler" in code && ports.looksForOne !== true,
      // A server sends outcomes, and not when they came to be.
      hasTimes: ports.beginsHere === undefined,
    };
    this.hooks = code.middleware.length === 0 ? null : new RunHooks(code, this, logs.logger);
    this.ownFailures = memo.attempts.length === 0 ? none : memo.attempts.filter(({ stepId }) => stepId === "");
    this.pass = new Pass(ports, memo, limits, this);
  }

  get attemptsMax(): number {
    return this.maxAttempts;
  }

  get lostWorkers(): number {
    return this.lease.lostWorkers;
  }

  get backoff(): Backoff | null {
    return this.code.backoff;
  }

  get around(): PassOptions["around"] {
    return this.hooks?.aroundStep ?? null;
  }

  get stepTimeoutMs(): number | null {
    return this.code.config.stepTimeoutMs ?? null;
  }

  warn(message: string): void {
    this.logs.logger.warn(`idem: function "${this.code.config.id}", run ${this.runId}: ${message}`);
  }

  conflict(error: IdemError): void {
    this.stopBy(() => this.stopForConflict(error));
  }

  diverged(found: readonly Divergence[]): void {
    this.stopBy(() => this.stopDiverged(found));
  }

  enter(): void {
    try {
      if (this.mayEnter()) this.begin();
    } catch (error) {
      this.broken(error);
    }
  }

  /** If not, it is ended, parked or put off here. */
  private mayEnter(): boolean {
    const { ports, lease, memo } = this;
    const { parked } = memo.run;
    const refusal = refusedToStart(this, memo, lease, this.code.config, ports.reached());
    // Whatever woke the run, code that failed is not entered again before its time.
    const retryAt = this.ownFailures.at(-1)?.retryAt ?? 0;
    if (refusal !== null) this.end(refusal);
    // Leased for what ends it, whose time has not quite come by our clock.
    else if (parked !== null) this.park({ kind: parked.kind, reason: parked.reason });
    else if (lease.lostWorkers > 0 && !this.mayEnterAgain()) return false;
    else if (retryAt > ports.reached()) this.suspend(retryAt, none);
    else return true;
    return false;
  }

  /** Workers were lost in the middle of it. */
  private mayEnterAgain(): boolean {
    const { ports, lease, memo, code } = this;
    const { lostWorkers, enterAt = null } = lease;
    const { entries = "remote" in code ? entriesElsewhere : entriesDefault } = code.config;
    const entry = nextEntry({ lostWorkers, enterAt, entries, reached: ports.reached(), chance: ports.random() });
    if (entry.kind === "enter") return true;
    if (entry.kind === "put-off") this.suspend(entry.enterAt, none, entry.enterAt);
    else if (entries.onMax !== "fail") this.park(parkedForEntries(memo));
    else {
      const lost = errors.RUN_LOST_WORKERS({ runId: this.runId, count: lostWorkers });
      this.end(ending("failed", serializeError(lost), code.config));
    }
    return false;
  }

  private begin(): void {
    const { ports, deadlineAt } = this;
    if (deadlineAt !== null) {
      const deadline = ports.timer(Math.max(0, deadlineAt - ports.reached()), () => void this.cutShort());
      this.pass.state.onClosed(() => deadline.cancel());
    }
    this.call();
  }

  // ------------------------------------------------------------------------------------------------ the code

  private call(): void {
    const { code, memo, ports, pass, ownFailures } = this;
    // Failures of the code between steps count from the last recorded step on.
    const lastStamp = memo.steps.at(-1)?.stamp ?? 0;
    const failuresSince = ownFailures.length === 0 ? none : ownFailures.filter(({ stamp }) => stamp > lastStamp);
    this.unreached = failuresSince.filter(({ error }) => wasUnreached(error)).length;
    this.attempt = failuresSince.length - this.unreached + 1;
    this.enteredAt = ports.now();
    const seen = "remote" in code ? calledEvent : payloadOf;
    this.event = seen(memo.event);
    this.events = memo.events.length === 1 ? [this.event] : memo.events.map(seen);
    // A server knows which code its apps had; they are only told what to do.
    const change = ports.beginsHere === undefined ? codeChange(memo, code, this.enteredAt) : null;
    if (change === null) this.callCode();
    else this.goOn(pass.note([change]).then(() => this.callCode()));
  }

  private callCode(): void {
    const { code, pass } = this;
    if (pass.isOver) return;
    let given: unknown;
    try {
      given = "remote" in code ? this.callElsewhere(code) : callInProcess(this, code, this, this.logs.given);
    } catch (error) {
      this.threw(error);
      return;
    }
    // Steps of code that answers at once begin before it is over.
    const returned = given instanceof Promise ? given : Promise.resolve(given);
    returned.then(
      (value) => this.returned(value),
      (error) => this.threw(error),
    );
  }

  private callElsewhere(code: RemoteCode): Promise<unknown> {
    const { pass, ports, destination, limits, runId, event, events, inputs, attempt, maxAttempts } = this;
    return callRemote({
      ...{ pass, ports, destination, limits, runId, event, events, inputs, attempt, maxAttempts, code },
      traceparentOf: (requestId) => traceparentOf({ runId, requestId }, this.memo.event),
      stop: (found) => this.diverged(found),
    });
  }

  private returned(value: unknown): void {
    if (this.isStopped) return;
    this.pass.codeIsOver();
    if (this.pass.isIdle) this.complete(value);
    else this.goOn(this.pass.idle().then(() => this.complete(value)));
  }

  private complete(value: unknown): void {
    const { code, pass, ports, limits } = this;
    try {
      const json = toJson(value, `The value returned by function "${code.config.id}"`);
      const bytes = Buffer.byteLength(json);
      if (bytes > limits.stepBytesMax) {
        throw errors.STEP_TOO_LARGE({ step: "(the function's return value)", bytes, max: limits.stepBytesMax });
      }
      const diverged = pass.divergedAtReturn();
      if (diverged.length > 0 && code.config.onDiverged !== undefined) {
        this.goOn(this.stopDiverged(diverged));
        return;
      }
      const steps = diverged.length === 0 ? none : divergenceSteps(diverged, ports.now());
      const end = ending("completed", json, code.config);
      const hooks = this.afterRun({ ok: true, value });
      if (hooks === null) this.end(end, steps);
      else this.goOn(hooks.then(() => this.end(end, steps)));
    } catch (error) {
      this.threw(error);
    }
  }

  private threw(error: unknown): void {
    if (this.isStopped) return;
    this.ports.trace?.threw(error);
    this.pass.codeIsOver();
    this.goOn(this.fail(error));
  }

  private async fail(error: unknown): Promise<void> {
    const { code, pass, ports } = this;
    await pass.idle();
    // Only of code elsewhere: what is thrown here may refuse to say what it is.
    if ("remote" in code && error instanceof RemoteError && error.code === wasConflict) {
      await this.stopForConflict(error);
      return;
    }
    const now = ports.now();
    const counted = pass.progressed ? 1 : this.attempt;
    const failure = {
      error,
      attempt: counted,
      unreached: pass.progressed ? 0 : this.unreached,
      attemptsMax: this.maxAttempts,
      now,
      chance: ports.random(),
    };
    const next = nextAttempt(failure, code.backoff);
    await this.afterRun({ ok: false, error });
    if (next.kind === "final") {
      this.end(ending("failed", serializeError(error), code.config), none, counted);
      return;
    }
    const failed: FailedAttempt = {
      stepId: "",
      name: "",
      attempt: this.ownFailures.length + 1,
      error: serializeError(error),
      startedAt: this.enteredAt,
      endedAt: now,
      retryAt: next.atMs,
      counted,
    };
    this.suspend(next.atMs, [failed]);
  }

  // ------------------------------------------------------------------------------------------------ how it goes on

  /** Not within the call that found out: the pass is in the middle of a turn. */
  private stopBy(stop: () => Promise<void>): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.goOn(Promise.resolve().then(stop));
  }

  /** Its code is not to go on: what runs beside it may end. */
  private async stopDiverged(found: readonly Divergence[]): Promise<void> {
    const { pass, ports, runId } = this;
    this.isStopped = true;
    pass.codeIsOver();
    await pass.idle();
    // Divergences that code elsewhere noticed are written down already.
    const untold = found.filter(({ stepId }) => !pass.memo.isToldDiverged(stepId));
    const steps = divergenceSteps(untold, ports.now());
    const reason = found.map(divergenceWords).join("; ");
    if (this.code.config.onDiverged === "park") {
      this.park({ kind: "diverged", reason }, steps);
      return;
    }
    const error = errors.RUN_DIVERGED({ runId, why: reason });
    await this.afterRun({ ok: false, error });
    this.end(ending("failed", serializeError(error), this.code.config), steps);
  }

  /** Two of its steps claim one id: what runs beside them may end, and its author decides. */
  private async stopForConflict({ message }: Error): Promise<void> {
    this.isStopped = true;
    this.pass.codeIsOver();
    await this.pass.idle();
    this.park({ kind: "renamed", reason: message });
  }

  private end(next: EndRun, steps: readonly NewStep[] = none, lastAttempt?: number): void {
    const before = this.ports.point("finish:before-commit");
    if (before === undefined) this.commitEnd(next, steps, lastAttempt);
    else this.goOn(before.then(() => this.commitEnd(next, steps, lastAttempt)));
  }

  private commitEnd(next: EndRun, steps: readonly NewStep[], lastAttempt: number | undefined): void {
    const { pass, ports, runId } = this;
    // Only SDKs put work off; other ends need not look for it.
    const sends =
      "remote" in this.code
        ? deferredEvents(
            pass.memo.recorded,
            { ...this.destination, runId },
            { newId: () => ports.newId(), now: ports.now() },
          )
        : none;
    const patch: Patch = { steps, sends, next };
    pass.conclude(lastAttempt === undefined ? patch : { ...patch, lastAttempt }, (answer) => {
      // If steps begin elsewhere, the end is reported elsewhere too, and null is all that comes of it here.
      if (answer !== null || ports.beginsHere !== undefined) pass.tellUnheard();
      if (answer === null) return;
      ports.plans.forget(runId);
      pass.finish({ kind: "ended", end: next });
    });
  }

  /** The time for the whole run is over: the signal of steps in the middle aborts, and their outcome is dropped. */
  private async cutShort(): Promise<void> {
    const next = timedOut(this.runId, this.code.config);
    if ((await this.pass.cutShort({ next })) !== null) this.pass.finish({ kind: "ended", end: next });
  }

  private park(why: ParkReason, steps: readonly NewStep[] = none): void {
    this.pass.conclude({ steps, next: { kind: "park", why, dueAt: this.deadlineAt } }, (answer) => {
      if (answer !== null) this.pass.finish({ kind: "parked", why });
    });
  }

  private suspend(retryAt: number, attempts: readonly FailedAttempt[], enterAt?: number): void {
    const dueAt = this.deadlineAt === null ? retryAt : Math.min(retryAt, this.deadlineAt);
    const next = { kind: "suspend", dueAt, ...(enterAt === undefined ? {} : { enterAt }) } as const;
    this.pass.conclude({ attempts, next }, (answer) => {
      if (answer !== null) this.pass.finish({ kind: "suspended", dueAt });
    });
  }

  /** Null without middleware, or where the run is not ours any more. */
  private afterRun(outcome: RunOutcome): Promise<void> | null {
    return this.hooks === null || this.pass.isOver ? null : this.hooks.afterRun(outcome);
  }

  /** However it goes on, it ends by closing the pass. */
  private goOn(by: Promise<void>): void {
    by.catch((error) => this.broken(error));
  }

  private broken(error: unknown): void {
    this.pass.finish({ kind: "broken", error });
  }
}

const none: readonly never[] = [];
