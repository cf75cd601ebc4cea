// Steps that the code asked for and that have no outcome yet: found within a turn, begun together at its end. Waits go first, attempts may have to
// stand in line.
import { AsyncResource } from "node:async_hooks";
import { errors, type IdemError } from "../model/errors.ts";
import { Attempt, type AttemptsOf } from "./attempt.ts";
import type { Op } from "./operation.ts";
import { inDoubt } from "./recorded-ids.ts";
import type { ReplayWatch } from "./replay-watch.ts";
import type { Suspension } from "./suspension.ts";

// Long enough for another run to bring a step to its end; nobody waits for a run that gave way to more than one.
const giveWayMs = 100;

// Never pushed to: where there is none, the first makes a list.
const noOps: Op[] = [];

/** The pass they are of. */
export interface StepsOf extends AttemptsOf {
  readonly watch: ReplayWatch | null;
  readonly suspension: Suspension;
  /** Whether anything may begin. */
  readonly mayStart: boolean;
  /** Whether an attempt that stood in line may still begin. */
  readonly mayAttempt: boolean;
  stopForConflict(error: IdemError): void;
}

export class FoundSteps {
  private ops: Op[] = noOps;
  private isPlanned = false;

  constructor(private readonly of: StepsOf) {}

  get isEmpty(): boolean {
    return this.ops.length === 0;
  }

  add(op: Op): void {
    this.of.state.memo.found(op.stepId);
    if (this.ops.length === 0) this.ops = [op];
    else this.ops.push(op);
    this.plan();
  }

  plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    queueMicrotask(() => {
      this.isPlanned = false;
      this.start();
    });
  }

  private start(): void {
    const { of } = this;
    if (!of.mayStart || of.watch?.holds(this.ops) === true) return;
    const { memo } = of.state;
    const doubtful = this.ops.find((op) => memo.isInDoubt(op));
    if (doubtful !== undefined) of.stopForConflict(inDoubt(doubtful.step));
    if (!of.mayStart) return;
    const found = this.ops;
    this.ops = noOps;
    // One attempt by itself, as most are.
    if (found.length === 1 && found[0]!.work.kind !== "wait") this.startAttempts(found);
    else this.startAll(found);
    of.suspension.planIfBlocked();
  }

  private startAll(found: readonly Op[]): void {
    // Waits first: a sibling that sends the event must find them.
    for (const op of found) if (op.work.kind === "wait" && this.admit(op)) this.beginWait(op, op.work.plan);
    this.startAttempts(found.filter((op) => op.work.kind !== "wait"));
  }

  private startAttempts(ops: readonly Op[]): void {
    const { state, commits } = this.of;
    const here = this.of.ports.beginsHere === undefined ? ops : ops.filter((op) => !this.leftToOthers(op));
    if (state.unsaved.hasWaits && here.length > 0) void commits.flush();
    for (const op of here) if (this.admit(op)) this.startAttempt(op);
  }

  private beginWait(op: Op, plan: Extract<Op["work"], { kind: "wait" }>["plan"]): void {
    const { ports, state } = this.of;
    try {
      const planned = ports.trace === undefined ? plan() : ports.trace.wait(op, plan);
      state.unsaved.addWait(planned);
      state.memo.beginWait(op.stepId, planned.wait.timeoutAt);
    } catch (error) {
      this.refuse(op, error);
    }
  }

  /** A step that begins elsewhere is waited for. */
  private leftToOthers(op: Op): boolean {
    const { ports, state } = this.of;
    if (ports.beginsHere?.(op, state.open.size - 1) ?? true) return false;
    if (this.admit(op)) state.memo.beginWait(op.stepId, null);
    return true;
  }

  /** Whether the run may have one more step. */
  private admit(op: Op): boolean {
    const { state, limits, runId } = this.of;
    // A step that is being replayed is open and in the memo as well; it counts once.
    if (state.open.size - state.handOut.pending + state.memo.size <= limits.stepsMax) return true;
    this.refuse(op, errors.RUN_TOO_MANY_STEPS({ runId, max: limits.stepsMax }));
    return false;
  }

  /** The call itself was wrong: nothing to record, the code hears of it at once. */
  private refuse(op: Op, error: unknown): void {
    this.of.state.open.delete(op.stepId);
    op.answer.reject(error);
  }

  startAttempt(op: Op): void {
    const { of } = this;
    const { state, ports, slots } = of;
    const retryAt = state.memo.retryAt(op.stepId);
    if (retryAt !== null && retryAt > ports.reached()) {
      op.blockedUntil = retryAt;
      of.suspension.plan();
      return;
    }
    if (ports.room?.mayGrow() === false) {
      op.blockedUntil = ports.reached() + giveWayMs;
      of.suspension.plan();
      return;
    }
    op.blockedUntil = null;
    state.enter();
    state.attempting++;
    state.weigh();
    const attempt = new Attempt(of, op);
    if (slots === null) {
      if (op.context === null) attempt.begin();
      else op.context.runInAsyncScope(() => attempt.begin());
      return;
    }
    op.context ??= new AsyncResource("idem.step");
    slots.enter(() => {
      if (of.mayAttempt) op.context!.runInAsyncScope(() => attempt.begin());
      else of.attemptIsOver();
    });
  }
}
