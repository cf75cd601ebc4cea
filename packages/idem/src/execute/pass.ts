// One pass over a function's code: steps with a recorded outcome get it back, the others run or begin to wait.
// An operation (one call of a step tool) moves like this:
//
//   found ─┬─ recorded ───────────────────────────▶ resolved, in the order of recording (decides races on replay)
//          ├─ can run ──▶ running ─┬─ outcome ────▶ committed ──▶ resolved
//          │                       └─ will retry ─▶ blocked until its time ──▶ running
//          └─ must wait ─▶ waiting (a row in the store) ──news──▶ resolved
//
// When nothing runs and something is blocked or waiting, the pass suspends: the lease goes back and the code is forgotten.
// A step's promise is resolved only after the commit that holds its outcome.

import type { Divergence } from "../model/divergence.ts";
import { errors, type IdemError } from "../model/errors.ts";
import type { LogLevel } from "../model/log-line.ts";
import type { StepKind } from "../model/step.ts";
import { serializeError } from "../model/user-errors.ts";
import type { NewStep } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";
import { checkSize, type PassLimits } from "./attempt-step.ts";
import { checkDefers, isDefer } from "./deferred.ts";
import { FoundSteps, type StepsOf } from "./found-steps.ts";
import type { HandingOut } from "./hand-out.ts";
import { divergenceSteps } from "./known-step.ts";
import type { Memo } from "./memo.ts";
import type { Op, OpIds, Work } from "./operation.ts";
import { type Advanced, type Committing, PassCommits } from "./pass-commits.ts";
import type { PassOptions } from "./pass-options.ts";
import { PassState } from "./pass-state.ts";
import type { PassResult, Patch, RunPorts, SlotsPort } from "./ports.ts";
import type { RecordedAs } from "./recorded-ids.ts";
import { ReplayWatch } from "./replay-watch.ts";
import { HandlerLines } from "./run-log.ts";
import type { StepLine } from "./slots.ts";
import { StepBody } from "./step-body.ts";
import { noLimit, type StepLimit } from "./step-limit.ts";
import type { AskedStep } from "./step-name.ts";
import { Unheard } from "./step-promise.ts";
import { StepSlots } from "./step-slots.ts";
import { type Suspendable, Suspension } from "./suspension.ts";

export class Pass implements StepsOf, Suspendable, Committing, HandingOut {
  readonly runId: string;
  readonly state: PassState;
  /** The latest call that asks code elsewhere what comes next: reports of earlier ones are out of date. */
  asking: string | null = null;
  readonly commits: PassCommits;
  readonly slots: StepLine | null;
  readonly suspension: Suspension;
  readonly watch: ReplayWatch | null;
  private readonly unheard = new Unheard();
  private readonly found = new FoundSteps(this);
  private handlerLines: HandlerLines | null = null;
  private ending = false;
  private draining = false;
  private limit: StepLimit | null = null;

  constructor(
    readonly ports: RunPorts,
    memo: RunMemo,
    readonly limits: PassLimits,
    readonly options: PassOptions,
  ) {
    this.runId = memo.run.id;
    this.state = new PassState(memo, ports, this);
    // Of a fresh run, as most are, there is nothing that its code could fail to ask for again.
    this.watch = options.divergence.isWatched && this.memo.unasked.size > 0 ? this.watchReplay() : null;
    this.commits = new PassCommits(ports, this.state, this);
    this.slots = ports.slots === undefined ? options.slots : this.takeSlots(ports.slots);
    this.suspension = new Suspension(ports, this.state, this.commits, this);
    this.state.weigh();
  }

  private watchReplay(): ReplayWatch {
    const { policy, hasTimes } = this.options.divergence;
    const watch = new ReplayWatch({
      memo: this.memo,
      ports: this.ports,
      policy,
      hasTimes,
      pending: () => this.state.handOut.pending,
      isOver: () => !this.mayStart,
      go: () => {
        this.planStart();
        this.suspension.plan();
      },
      diverged: (found) => void this.diverged(found),
    });
    this.state.onClosed(() => watch.stop());
    return watch;
  }

  private takeSlots(port: SlotsPort): StepSlots {
    const { ports, state, commits } = this;
    const slots = new StepSlots({
      port,
      soon: (run) => ports.soon(run),
      timer: (ms, run) => ports.timer(ms, run),
      commit: () => void commits.commit({ next: { kind: "continue", collect: state.memo.hasWaits } }),
      mayBegin: () => this.mayStart,
    });
    commits.slots = slots;
    state.onClosed(() => slots.stop());
    return slots;
  }

  committed(): void {
    this.commits.slots?.admit();
    this.suspension.planIfBlocked();
  }

  handedOut(): void {
    this.suspension.plan();
  }

  get deadlineAt(): number | null {
    return this.options.deadlineAt;
  }

  get hasFound(): boolean {
    return !this.found.isEmpty || this.watch?.isJudging === true;
  }

  get tellsFirst(): boolean {
    return this.watch?.tellsBeforeSuspending() === true;
  }

  planStart(): void {
    this.found.plan();
  }

  startAttempt(op: Op): void {
    this.found.startAttempt(op);
  }

  get unlimited(): StepLimit {
    this.limit ??= noLimit(this.state);
    return this.limit;
  }

  get closed(): Promise<PassResult> {
    return this.state.closed;
  }

  get memo(): Memo {
    return this.state.memo;
  }

  /** Whether an outcome was recorded since the pass began: code between steps then has its attempts back. */
  get progressed(): boolean {
    return this.commits.progressed;
  }

  /** Entries into the code in a row, this one included; from its first outcome on, one. */
  get entered(): number {
    return this.progressed || this.state.hasFailed ? 1 : this.options.lostWorkers + 1;
  }

  /** While true the code is repeating what it already did; logs stay silent. */
  get isReplaying(): boolean {
    return this.memo.isReplaying;
  }

  /** A line of the code's logger. False when it was said before and is not to be said again. */
  log(level: LogLevel, args: readonly unknown[], attempt: number): boolean {
    const body = StepBody.around(this);
    if (body !== null) {
      body.lines?.add(level, args);
      return true;
    }
    if (this.ports.keepsLogs === true) {
      // Counted also while it is repeated: a line is known by how often it was said.
      this.handlerLines ??= new HandlerLines();
      const line = this.handlerLines.line(this.state.said(level, args, attempt));
      if (!this.isReplaying) this.state.lines.add(line);
    }
    return !this.isReplaying;
  }

  get isOver(): boolean {
    return this.state.isClosed;
  }

  /** Aborts when the run is cancelled or lost. */
  get signal(): AbortSignal {
    return this.state.signal;
  }

  private get open(): Map<string, Op> {
    return this.state.open;
  }

  get mayStart(): boolean {
    return this.mayAttempt && !this.suspension.isUnderWay;
  }

  get mayAttempt(): boolean {
    return !this.isOver && !this.ending && !this.draining;
  }

  /** A call of a step tool. The promise never settles once the pass is closed. */
  request(kind: StepKind, asked: AskedStep, workOf: (ids: OpIds) => Work): Promise<unknown> {
    const body = StepBody.around(this);
    if (body !== null) {
      const refused = Promise.reject(body.refuse(asked.step, this.options));
      refused.catch(() => {});
      return refused;
    }
    const ids = this.memo.nextIds(asked);
    if (!("conflict" in ids)) return this.requestAs(kind, ids, () => workOf(ids), asked.step);
    this.stopForConflict(ids.conflict);
    return new Promise(() => {});
  }

  /** The run goes no further, and nothing new of it begins; a call for one step only passes by. */
  stopForConflict(error: IdemError): void {
    if (this.ports.looksForOne === true) return;
    this.ending = true;
    this.options.conflict(error);
  }

  /** The same for a step whose id is given. */
  requestAs(kind: StepKind, ids: RecordedAs, workOf: () => Work, step = ids.name): Promise<unknown> {
    const { stepId, name, repeat, own } = ids;
    const answer = this.unheard.open(ids);
    if (this.isOver) return answer.promise;
    try {
      const op: Op = {
        stepId,
        name,
        repeat,
        own,
        kind,
        step,
        work: workOf(),
        answer,
        blockedUntil: null,
        context: null,
      };
      this.watch?.asked(ids, kind, this.open.size);
      this.open.set(stepId, op);
      if (this.memo.get(stepId) !== undefined) {
        this.state.handOut.add(op);
      } else if (this.memo.isWaiting(stepId)) {
        this.suspension.plan();
      } else {
        this.found.add(op);
      }
    } catch (error) {
      answer.reject(error);
    }
    return answer.promise;
  }

  /** The code itself is at work elsewhere: the run is not given back meanwhile. Null when nothing may begin any more. */
  async during<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.state.gate !== null) await this.state.gate;
    if (this.isOver || this.draining) return null;
    if (!this.ports.isHeld()) {
      this.giveUp("its lease may have ended");
      return null;
    }
    this.state.enter();
    try {
      return await work();
    } finally {
      this.state.leave();
      this.suspension.planIfBlocked();
    }
  }

  /** Steps that ran elsewhere and are done. False when the pass is over, or other outcomes of them stand. */
  async record(steps: readonly NewStep[]): Promise<boolean> {
    if (this.isOver) return false;
    if (this.memo.size + steps.length > this.limits.stepsMax) {
      throw errors.RUN_TOO_MANY_STEPS({ runId: this.runId, max: this.limits.stepsMax });
    }
    if (steps.some(isDefer)) checkDefers(this.runId, this.memo.recorded.filter(isDefer).length, steps);
    let bytes = 0;
    for (const step of steps) {
      bytes += checkSize(step.outcome.json, step, { id: this.runId, bytes: this.state.bytes + bytes }, this.limits);
    }
    this.state.comes(bytes);
    const before = this.ports.point("step:before-commit");
    if (before !== undefined) await before;
    await this.commits.commit({ steps, next: { kind: "continue", collect: this.memo.hasWaits } });
    this.state.comes(-bytes);
    if (this.isOver) return false;
    return steps.every(({ stepId, outcome }) => this.memo.get(stepId)?.outcome.json === outcome.json);
  }

  /** A step that ran elsewhere, or its failure when its value is larger than a step or its run may keep. */
  fitting(step: NewStep): NewStep {
    try {
      checkSize(step.outcome.json, step, { id: this.runId, bytes: this.state.bytes }, this.limits);
      return step;
    } catch (error) {
      return { ...step, outcome: { kind: "error", json: serializeError(error) } };
    }
  }

  /** Nothing new is to begin; what comes back may still be recorded. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** New outcomes may be in the store: look, without waiting for the next commit. */
  poke(): void {
    if (this.isOver || this.suspension.isUnderWay || this.ending) return;
    void this.commits.commit({ next: { kind: "continue", collect: true } });
  }

  /** The same, and what is there is taken in once it resolves. */
  async collect(): Promise<void> {
    if (!this.isOver) await this.commits.commit({ next: { kind: "continue", collect: true } });
  }

  /** No new attempt starts until the gate opens; a cancel that is being committed holds it. */
  hold(until: Promise<void>): void {
    this.state.gate = Promise.all([this.state.gate, until]);
  }

  /** Finish what runs, start nothing more, write down what is left, then give the run up. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.idle();
    // The code may be about to return after the step that just ended; then the run ends here and not elsewhere.
    await new Promise<void>((resolve) => this.ports.soon(resolve));
    while (this.state.running > 0 && !this.isOver) await this.idle();
    await this.commits.flush();
    this.giveUp("the process is stopping");
  }

  giveUp(why: string): void {
    this.finish({ kind: "lost", why });
  }

  finish(result: PassResult): void {
    this.state.close(result);
  }

  get isIdle(): boolean {
    return this.state.running === 0;
  }

  /** Resolves once no attempt and no commit is under way. */
  idle(): Promise<void> {
    return this.state.idle();
  }

  /** The code returned: which steps of earlier passes it has not asked for. */
  divergedAtReturn(): readonly Divergence[] {
    return this.watch?.atReturn() ?? [];
  }

  /** Writes notes for people beside the steps. */
  note(steps: readonly NewStep[]): Promise<void> {
    return this.commits.commit({ steps, next: { kind: "continue", collect: this.memo.hasWaits } });
  }

  private async diverged(found: readonly Divergence[]): Promise<void> {
    if (this.options.divergence.policy !== "warn") return this.options.diverged(found);
    await this.note(divergenceSteps(found, this.ports.now()));
    if (!this.isOver) this.watch!.letGo();
  }

  /** The code has returned or thrown: what still runs may end, nothing new begins, and the run is not suspended any more. */
  codeIsOver(): void {
    this.ending = true;
  }

  /** The run has ended. */
  tellUnheard(): void {
    const open = Array.from(this.open.values(), ({ answer }) => answer);
    for (const failure of this.unheard.failures(this.memo, open)) this.options.warn(failure);
  }

  /** Ends or suspends the run by the word of the code itself. `heard` gets null when the pass is over. */
  conclude(patch: Patch, heard: (answer: Advanced | null) => void): void {
    if (this.isOver) {
      heard(null);
      return;
    }
    if (this.state.running > 0) {
      void this.idle().then(() => this.conclude(patch, heard));
      return;
    }
    this.ending = true;
    this.state.enter();
    // Attempts that failed beside the end are part of the story.
    const unsaved = this.state.unsaved.takeAttempts();
    const isAlone = unsaved.attempts.length === 0 && unsaved.lines === undefined;
    const whole = isAlone
      ? patch
      : { ...patch, ...unsaved, attempts: [...unsaved.attempts, ...(patch.attempts ?? [])] };
    this.commits.tell(whole, (answer) => this.concluded(patch.next, answer, heard));
  }

  private concluded(next: Patch["next"], answer: Advanced | null, heard: (answer: Advanced | null) => void): void {
    // News refuses a suspension. The code that would hear it has thrown; it is in the memo of the next pass.
    if (answer?.leased === true) {
      this.memo.seen = Math.max(this.memo.seen, answer.seen);
      this.commits.tell({ next }, (again) => this.concluded(next, again, heard));
      return;
    }
    this.state.leave();
    heard(answer);
  }

  /** Ends the run whatever still runs: what that leaves behind will be refused. */
  cutShort(patch: Patch): Promise<Advanced | null> {
    this.ending = true;
    return this.commits.send(patch);
  }

  attemptIsOver(): void {
    this.state.attempting--;
    this.state.weigh();
    this.state.leave();
    this.suspension.planIfBlocked();
    this.slots?.leave();
  }
}
