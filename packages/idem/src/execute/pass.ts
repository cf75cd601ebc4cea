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

import { errors } from "../model/errors.ts";
import type { Step, StepKind } from "../model/step.ts";
import type { Timer } from "../platform/platform.ts";
import type { AdvanceAnswer, RunMemo } from "../store/store.ts";
import { attemptStep, checkSize, type PassLimits } from "./attempt-step.ts";
import { CommitQueue } from "./commit-queue.ts";
import { HandOut } from "./hand-out.ts";
import { Memo } from "./memo.ts";
import { earliest, nextLook, nextRetryAt } from "./next-look.ts";
import type { Op, OpIds, Ran, Work } from "./operation.ts";
import type { PassResult, Patch, RunPorts } from "./ports.ts";
import type { Backoff } from "./retry.ts";
import { Unsaved } from "./unsaved.ts";

type Advanced = Extract<AdvanceAnswer, { kind: "advanced" }>;

export class Pass {
  readonly closed: Promise<PassResult>;
  /** Whether an outcome was recorded since the pass began: code between steps then has its attempts back. */
  progressed = false;
  private close!: (result: PassResult) => void;
  private isClosed = false;
  /** Made when somebody asks for its signal: most steps never do. */
  private abort: AbortController | null = null;
  private readonly memo: Memo;
  private readonly runId: string;

  private readonly handOut: HandOut;
  private found: Op[] = [];
  private readonly unsaved = new Unsaved();
  /** Attempts and commits that must be over before the run may be given back. */
  private running = 0;
  private attempting = 0;
  /** Bytes of values that are on their way into the store. */
  private bytesComing = 0;
  private startPlanned = false;
  private checkPlanned = false;
  private suspending = false;
  private ending = false;
  private draining = false;
  private gate: Promise<unknown> | null = null;
  private readonly commits = new CommitQueue((patch) => this.commitTogether(patch));
  private whenIdle: (() => void)[] = [];
  private timer: Timer | null = null;

  constructor(
    private readonly ports: RunPorts,
    memo: RunMemo,
    private readonly limits: PassLimits,
    private readonly options: {
      readonly attemptsMax: number;
      readonly backoff: Backoff | null;
      /** Not later than this the run is looked at again. */
      readonly deadlineAt: number | null;
      readonly around: (op: OpIds & { attempt: number }, run: () => Promise<Ran>) => Promise<Ran>;
    },
  ) {
    this.memo = new Memo(memo, ports.stepId);
    this.handOut = new HandOut(this.memo, ports.soon, () => this.planCheck());
    this.runId = memo.run.id;
    this.closed = new Promise((resolve) => {
      this.close = (result) => {
        if (this.isClosed) return;
        this.isClosed = true;
        this.timer?.cancel();
        this.handOut.stop();
        if (this.running > 0) this.abort?.abort(new Error(result.kind === "lost" ? result.why : "the run is over"));
        resolve(result);
      };
    });
  }

  /** While true the code is repeating what it already did; logs stay silent. */
  get isReplaying(): boolean {
    return this.memo.isReplaying;
  }

  get isOver(): boolean {
    return this.isClosed;
  }

  private get signal(): AbortSignal {
    this.abort ??= new AbortController();
    return this.abort.signal;
  }

  private get open(): Map<string, Op> {
    return this.handOut.open;
  }

  private get mayStart(): boolean {
    return !this.isClosed && !this.suspending && !this.ending && !this.draining;
  }

  /** A call of a step tool. The promise never settles once the pass is closed. */
  request(kind: StepKind, name: string, workOf: (ids: OpIds) => Work): Promise<unknown> {
    const ids = this.memo.nextIds(name);
    const { stepId } = ids;
    const promise = new Promise<unknown>((resolve, reject) => {
      if (this.isClosed) return;
      const op: Op = { ...ids, kind, work: workOf(ids), resolve, reject, blockedUntil: null };
      this.open.set(stepId, op);
      if (this.memo.get(stepId) !== undefined) {
        this.handOut.add(op);
      } else if (this.memo.isWaiting(stepId)) {
        this.planCheck();
      } else {
        this.memo.found(stepId);
        this.found.push(op);
        this.planStart();
      }
    });
    // A step nobody awaits must not end the process when it fails; its outcome is in the timeline.
    promise.catch(() => {});
    return promise;
  }

  /** New outcomes may be in the store: look, without waiting for the next commit. */
  poke(): void {
    if (this.isClosed || this.suspending || this.ending) return;
    void this.commit({ next: { kind: "continue", collect: true } });
  }

  /** No new attempt starts until the gate opens; a cancel that is being committed holds it. */
  hold(until: Promise<void>): void {
    this.gate = Promise.all([this.gate, until]);
  }

  /** Finish what runs, start nothing more, write down what is left, then give the run up. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.idle();
    // The code may be about to return after the step that just ended; then the run ends here and not elsewhere.
    await new Promise<void>((resolve) => this.ports.soon(resolve));
    while (this.running > 0 && !this.isClosed) await this.idle();
    const unsaved = this.unsaved.take();
    if (unsaved !== null) await this.commit({ ...unsaved, next: { kind: "continue", collect: false } });
    this.giveUp("the process is stopping");
  }

  giveUp(why: string): void {
    this.close({ kind: "lost", why });
  }

  finish(result: PassResult): void {
    this.close(result);
  }

  /** Resolves once no attempt and no commit is under way. */
  idle(): Promise<void> {
    if (this.running === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenIdle.push(resolve);
      void this.closed.then(() => resolve());
    });
  }

  /** The code has returned or thrown: what still runs may end, nothing new begins, and the run is not suspended any more. */
  codeIsOver(): void {
    this.ending = true;
  }

  /** Ends or suspends the run by the word of the code itself. */
  async conclude(patch: Patch): Promise<Advanced | null> {
    while (this.running > 0 && !this.isClosed) await this.idle();
    if (this.isClosed) return null;
    this.ending = true;
    this.running++;
    // Attempts that failed beside the end are part of the story.
    const attempts = [...this.unsaved.takeAttempts(), ...(patch.attempts ?? [])];
    let answer = await this.send({ ...patch, attempts });
    // News refuses a suspension. The code that would hear it has thrown; it is in the memo of the next pass.
    while (answer?.leased === true) {
      this.memo.seen = Math.max(this.memo.seen, answer.seen);
      answer = await this.send({ next: patch.next });
    }
    this.leave();
    return answer;
  }

  /** Ends the run whatever still runs: what that leaves behind will be refused. */
  cutShort(patch: Patch): Promise<Advanced | null> {
    this.ending = true;
    return this.send(patch);
  }

  // ------------------------------------------------------------------------------------------------ starting

  private planStart(): void {
    if (this.startPlanned) return;
    this.startPlanned = true;
    queueMicrotask(() => {
      this.startPlanned = false;
      this.start();
    });
  }

  private start(): void {
    if (!this.mayStart) return;
    const found = this.found;
    this.found = [];
    // Waits first: a sibling that sends the event must find them (inngest-protocol §11).
    for (const op of found) {
      if (op.work.kind !== "wait" || !this.admit(op)) continue;
      try {
        const planned = op.work.plan();
        this.unsaved.addWait(planned);
        this.memo.beginWait(op.stepId, planned.wait.timeoutAt);
      } catch (error) {
        this.refuse(op, error);
      }
    }
    const attempts = found.filter((op) => op.work.kind === "attempt");
    if (this.unsaved.hasWaits && attempts.length > 0) this.flush();
    for (const op of attempts) if (this.admit(op)) this.startAttempt(op);
    this.planCheckIfBlocked();
  }

  /** Whether the run may have one more step. */
  private admit(op: Op): boolean {
    // What is being replayed is open and in the memo as well; it counts once.
    if (this.open.size - this.handOut.pending + this.memo.size <= this.limits.stepsMax) return true;
    this.refuse(op, errors.RUN_TOO_MANY_STEPS({ runId: this.runId, max: this.limits.stepsMax }));
    return false;
  }

  /** The call itself was wrong: nothing to record, the code hears of it at once. */
  private refuse(op: Op, error: unknown): void {
    this.open.delete(op.stepId);
    op.reject(error);
  }

  private startAttempt(op: Op): void {
    const retryAt = this.memo.retryAt(op.stepId);
    if (retryAt !== null && retryAt > this.ports.now()) {
      op.blockedUntil = retryAt;
      this.planCheck();
      return;
    }
    op.blockedUntil = null;
    this.running++;
    this.attempting++;
    this.attempt(op)
      .catch((error) => this.close({ kind: "broken", error }))
      .finally(() => {
        this.attempting--;
        this.leave();
        this.planCheckIfBlocked();
      });
  }

  /** Something open is neither being attempted nor on its way to the code. */
  private planCheckIfBlocked(): void {
    if (this.open.size > this.attempting) this.planCheck();
  }

  private leave(): void {
    this.running--;
    if (this.running > 0) return;
    for (const resolve of this.whenIdle.splice(0)) resolve();
  }

  private async attempt(op: Op): Promise<void> {
    const { work, stepId, name, repeat, kind } = op;
    if (work.kind !== "attempt") return;
    const attempt = this.memo.failureCount(stepId) + 1;
    if (this.gate !== null) await this.gate;
    const point = this.ports.point("step:before-attempt");
    if (point !== undefined) await point;
    if (this.isClosed) return;
    if (!this.ports.isHeld()) {
      this.giveUp("its lease may have ended");
      return;
    }
    const startedAt = this.ports.now();
    let bytes = 0;
    const facts = { attempt, signal: () => this.signal };
    const attempted = await attemptStep(
      () => this.options.around({ ...op, attempt }, () => work.run(facts)),
      (json) => {
        checkSize(json, op, { id: this.runId, bytes: this.memo.bytes + this.bytesComing }, this.limits);
        bytes = Buffer.byteLength(json);
        this.bytesComing += bytes;
      },
      { ...this.options, attempt },
      this.ports,
    );
    if (this.isClosed) return;
    const endedAt = this.ports.now();
    if (attempted.kind === "retry") {
      const { error, retryAt } = attempted;
      this.memo.fail(stepId, attempt, retryAt);
      op.blockedUntil = retryAt;
      this.unsaved.addAttempt({ stepId, name, attempt, error, startedAt, endedAt, retryAt });
      return;
    }
    const { outcome, sends } = attempted;
    const before = this.ports.point("step:before-commit");
    if (before !== undefined) await before;
    await this.commit({
      steps: [{ stepId, name, repeat, kind, outcome, attempt, startedAt, endedAt }],
      sends,
      // Beside waits it must be known what ended before this step: whoever was first wins the race, now and on replay.
      next: { kind: "continue", collect: this.memo.hasWaits },
    });
    this.bytesComing -= bytes;
  }

  // ------------------------------------------------------------------------------------------------ committing

  /** Resolves once the patch is committed and its outcomes are on their way to the code. */
  private async commit(patch: Patch): Promise<void> {
    this.running++;
    await this.commits.add(patch);
    this.leave();
    this.planCheckIfBlocked();
  }

  private async commitTogether(patch: Patch): Promise<void> {
    const answer = await this.send(patch);
    if (answer === null) return;
    const steps = patch.steps ?? [];
    if (steps.length > 0) {
      const after = this.ports.point("step:after-commit");
      if (after !== undefined) await after;
      if (this.isClosed) return;
    }
    const own = steps.map((step, i) => ({
      ...step,
      outcome: answer.outcomes[i]!,
      // Without waits nothing else is recorded, and the order of answers is the order of recording.
      stamp: answer.stamps?.[i] ?? this.memo.lastStamp,
      worker: null,
    }));
    this.take([...own, ...answer.news], answer.seen);
  }

  private take(steps: readonly Step[], seen: number): void {
    if (this.handOut.take(steps)) this.progressed = true;
    this.memo.seen = Math.max(this.memo.seen, seen);
  }

  private async send(patch: Patch): Promise<Advanced | null> {
    let answer: AdvanceAnswer;
    try {
      answer = await this.ports.advance(patch, this.memo.seen);
    } catch (error) {
      this.close({ kind: "broken", error });
      return null;
    }
    if (this.isClosed) return null;
    if (answer.kind === "advanced") return answer;
    this.giveUp(answer.kind === "ended" ? `the run is ${answer.state}` : "another worker has the run");
    return null;
  }

  /** Writes down new waits and failed attempts while something else goes on. */
  private flush(): void {
    const unsaved = this.unsaved.take();
    if (unsaved === null) return;
    void this.commit({ ...unsaved, next: { kind: "continue", collect: false } });
  }

  // ------------------------------------------------------------------------------------------------ suspending

  private planCheck(): void {
    if (this.checkPlanned || this.isClosed) return;
    this.checkPlanned = true;
    this.ports.soon(() => {
      this.checkPlanned = false;
      this.check();
    });
  }

  private check(): void {
    if (!this.mayStart) return;
    if (this.handOut.pending > 0 || this.found.length > 0 || this.open.size === this.attempting) return;
    if (this.running === 0) {
      void this.suspend();
      return;
    }
    this.flush();
    this.armTimer();
  }

  private async suspend(): Promise<void> {
    this.suspending = true;
    this.running++;
    const dueAt = earliest([this.options.deadlineAt, nextRetryAt(this.open)]);
    const unsaved = this.unsaved.take() ?? {};
    const before = this.ports.point("suspend:before-commit");
    if (before !== undefined) await before;
    const answer = await this.send({ ...unsaved, next: { kind: "suspend", dueAt } });
    if (answer !== null) {
      const after = this.ports.point("suspend:after-commit");
      if (after !== undefined) await after;
    }
    this.suspending = false;
    this.leave();
    if (answer === null) return;
    if (!answer.leased) {
      this.close({ kind: "suspended", dueAt: earliest([dueAt, ...this.memo.timeouts]) });
      return;
    }
    this.take(answer.news, answer.seen);
    if (this.found.length > 0) this.planStart();
    this.planCheck();
  }

  /** While attempts run, blocked siblings and finished sleeps need not wait for them. */
  private armTimer(): void {
    this.timer?.cancel();
    this.timer = null;
    const now = this.ports.now();
    const look = nextLook(this.open, this.memo, now);
    if (look === null) return;
    this.timer = this.ports.timer(Math.max(0, look.at - now), () => {
      this.timer = null;
      if (!this.mayStart) return;
      for (const op of this.open.values()) {
        if (op.blockedUntil !== null && op.blockedUntil <= this.ports.now()) this.startAttempt(op);
      }
      if (look.waitsOpen) this.poke();
      this.planCheck();
    });
  }
}
