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
import { fromJson } from "../model/json.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Step, StepKind } from "../model/step.ts";
import { hashStepId } from "../model/step-id.ts";
import { readError, StepError, serializeError } from "../model/user-errors.ts";
import type { Timer } from "../platform/platform.ts";
import type { AdvanceAnswer, NewFailedAttempt, RunMemo } from "../store/store.ts";
import type { PassResult, Patch, PlannedSend, PlannedWait, RunPorts } from "./ports.ts";
import { type Backoff, nextAttempt } from "./retry.ts";

export interface PassLimits {
  readonly stepsMax: number;
  readonly stepBytesMax: number;
  readonly runBytesMax: number;
}

export interface AttemptFacts {
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** What an operation does once it is found and has no outcome yet. */
export type Work =
  | { readonly kind: "wait"; readonly plan: () => PlannedWait }
  /** Runs code; the value it gives back is already JSON text. */
  | {
      readonly kind: "attempt";
      readonly run: (facts: AttemptFacts) => Promise<string>;
      readonly sends?: () => PlannedSend[];
    };

export interface OpIds {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
}

interface Op extends OpIds {
  readonly kind: StepKind;
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  blockedUntil: number | null;
}

export class Pass {
  readonly closed: Promise<PassResult>;
  private close!: (result: PassResult) => void;
  private isClosed = false;
  private readonly abort = new AbortController();

  private readonly memo = new Map<string, Step>();
  private readonly failures = new Map<string, number>();
  private readonly retryAt = new Map<string, number>();
  private readonly waiting: Set<string>;
  private readonly repeats = new Map<string, number>();
  private readonly taken = new Set<string>();
  private readonly open = new Map<string, Op>();
  private found: Op[] = [];
  private replaying: Op[] = [];
  /** Outcomes from earlier passes that the code has not asked for again yet. */
  private readonly unreplayed = new Set<string>();
  private newWaits: PlannedWait[] = [];
  private newAttempts: NewFailedAttempt[] = [];
  private running = 0;
  private bytes = 0;
  private seen = 0;
  private startPlanned = false;
  private checkPlanned = false;
  private replayPlanned = false;
  private suspending = false;
  private draining = false;
  private gate: Promise<void> | null = null;
  private flushing: Promise<void> | null = null;
  private whenIdle: (() => void) | null = null;
  private timer: Timer | null = null;
  /** Whether a step was recorded since the pass began: code between steps then has its attempts back. */
  progressed = false;

  constructor(
    private readonly ports: RunPorts,
    memo: RunMemo,
    private readonly limits: PassLimits,
    private readonly options: {
      readonly attemptsMax: number;
      readonly backoff: Backoff | null;
      /** Not later than this the run is looked at again. */
      readonly deadlineAt: number | null;
      readonly around: (op: OpIds & { attempt: number }, run: () => Promise<string>) => Promise<string>;
    },
  ) {
    this.closed = new Promise((resolve) => {
      this.close = (result) => {
        if (this.isClosed) return;
        this.isClosed = true;
        this.timer?.cancel();
        if (result.kind === "lost") this.abort.abort(new Error(result.why));
        resolve(result);
      };
    });
    for (const step of memo.steps) {
      this.remember(step);
      this.unreplayed.add(step.stepId);
      this.seen = Math.max(this.seen, step.stamp);
    }
    for (const { stepId, retryAt } of memo.attempts) {
      this.failures.set(stepId, (this.failures.get(stepId) ?? 0) + 1);
      this.retryAt.set(stepId, retryAt);
    }
    this.waiting = new Set(memo.waits.map((wait) => wait.stepId));
    this.runId = memo.run.id;
  }
  private readonly runId: string;

  /** While true the code is repeating what it already did; logs stay silent. */
  get isReplaying(): boolean {
    return this.unreplayed.size > 0;
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** A call of a step tool. The promise never settles once the pass is closed. */
  request(kind: StepKind, name: string, workOf: (ids: OpIds) => Work): Promise<unknown> {
    const ids = this.nextIds(name);
    const { stepId } = ids;
    const promise = new Promise<unknown>((resolve, reject) => {
      if (this.isClosed) return;
      const op: Op = { ...ids, kind, work: workOf(ids), resolve, reject, blockedUntil: null };
      this.open.set(stepId, op);
      if (this.memo.has(stepId)) {
        this.replaying.push(op);
        this.planReplay();
      } else if (this.waiting.has(stepId)) {
        this.planCheck();
      } else {
        // Something new: whatever in the memo was not asked for again was removed from the code.
        this.unreplayed.clear();
        this.found.push(op);
        this.planStart();
      }
    });
    // A step nobody awaits must not end the process when it fails; its outcome is in the timeline.
    promise.catch(() => {});
    return promise;
  }

  /** The n-th call with one id is its n-th repeat; a repeat that meets an id somebody wrote ("a:1") moves on. */
  private nextIds(name: string): OpIds {
    let repeat = this.repeats.get(name) ?? 0;
    let stepId = hashStepId(name, repeat);
    while (this.taken.has(stepId)) stepId = hashStepId(name, ++repeat);
    this.taken.add(stepId);
    this.repeats.set(name, repeat + 1);
    return { stepId, name, repeat };
  }

  /** New outcomes may be in the store: look, without waiting for the next commit. */
  poke(): void {
    if (this.isClosed || this.suspending) return;
    void this.commit({ next: { kind: "continue", collect: true } });
  }

  /** No new attempt starts until the gate opens; a cancel that is being committed holds it. */
  hold(until: Promise<void>): void {
    this.gate = until;
  }

  /** Finish what runs, start nothing more, then give the run up. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.idle();
    this.giveUp("the process is stopping");
  }

  giveUp(why: string): void {
    this.close({ kind: "lost", why });
  }

  /** Resolves once no attempt and no commit is under way. */
  idle(): Promise<void> {
    if (this.running === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.whenIdle;
      this.whenIdle = () => {
        before?.();
        resolve();
      };
      void this.closed.then(() => resolve());
    });
  }

  /** Ends or suspends the run by the word of the code itself. */
  async conclude(patch: Patch): Promise<AdvanceAnswer | null> {
    await this.idle();
    if (this.isClosed) return null;
    // Attempts that failed beside the end are part of the story.
    const attempts = [...this.newAttempts, ...(patch.attempts ?? [])];
    this.newAttempts = [];
    this.suspending = true;
    return this.send({ ...patch, attempts });
  }

  finish(result: PassResult): void {
    this.close(result);
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
    if (this.isClosed || this.suspending || this.draining) return;
    const found = this.found;
    this.found = [];
    // Waits first: a sibling that sends the event must find them (inngest-protocol §11).
    for (const op of found) {
      if (op.work.kind !== "wait" || !this.admit(op)) continue;
      try {
        this.newWaits.push(op.work.plan());
        this.waiting.add(op.stepId);
      } catch (error) {
        this.refuse(op, error);
      }
    }
    const attempts = found.filter((op) => op.work.kind === "attempt");
    if (this.newWaits.length > 0 && attempts.length > 0) this.flush();
    for (const op of attempts) if (this.admit(op)) this.startAttempt(op);
    if (this.newWaits.length > 0 || this.open.size > this.running) this.planCheck();
  }

  /** Whether the run may have one more step. */
  private admit(op: Op): boolean {
    if (this.open.size + this.memo.size <= this.limits.stepsMax) return true;
    this.refuse(op, errors.RUN_TOO_MANY_STEPS({ runId: this.runId, max: this.limits.stepsMax }));
    return false;
  }

  /** The call itself was wrong: nothing to record, the code hears of it at once. */
  private refuse(op: Op, error: unknown): void {
    this.open.delete(op.stepId);
    op.reject(error);
  }

  private startAttempt(op: Op): void {
    const retryAt = this.retryAt.get(op.stepId);
    if (retryAt !== undefined && retryAt > this.ports.now()) {
      op.blockedUntil = retryAt;
      this.planCheck();
      return;
    }
    op.blockedUntil = null;
    this.running++;
    void this.attempt(op).finally(() => {
      this.leave();
      if (this.open.size > 0) this.planCheck();
    });
  }

  private leave(): void {
    this.running--;
    if (this.running > 0) return;
    this.whenIdle?.();
    this.whenIdle = null;
  }

  private async attempt(op: Op): Promise<void> {
    if (op.work.kind !== "attempt") return;
    const attempt = (this.failures.get(op.stepId) ?? 0) + 1;
    if (this.gate !== null) await this.gate;
    const point = this.ports.point("step:before-attempt");
    if (point !== undefined) await point;
    if (this.isClosed) return;
    const startedAt = this.ports.now();
    const work = op.work;
    let outcome: Outcome;
    let sends: PlannedSend[] = [];
    try {
      sends = work.sends?.() ?? [];
      const json = await this.options.around({ ...op, attempt }, () =>
        work.run({ attempt, signal: this.abort.signal }),
      );
      outcome = { kind: "value", json: this.bounded(op, json) };
    } catch (error) {
      if (this.isClosed) return;
      const next = nextAttempt(
        {
          error,
          attempt,
          attemptsMax: this.options.attemptsMax,
          now: this.ports.now(),
          chance: this.ports.random(),
        },
        this.options.backoff,
      );
      if (next.kind === "retry") return this.block(op, attempt, error, startedAt, next.atMs);
      outcome = { kind: "error", json: serializeError(error) };
      sends = [];
    }
    const before = this.ports.point("step:before-commit");
    if (before !== undefined) await before;
    await this.commit({
      steps: [
        {
          stepId: op.stepId,
          name: op.name,
          repeat: op.repeat,
          kind: op.kind,
          outcome,
          attempt,
          startedAt,
          endedAt: this.ports.now(),
        },
      ],
      sends,
      next: { kind: "continue", collect: false },
    });
  }

  private bounded(op: Op, json: string): string {
    const bytes = Buffer.byteLength(json);
    if (bytes > this.limits.stepBytesMax) {
      throw errors.STEP_TOO_LARGE({ step: op.name, bytes, max: this.limits.stepBytesMax });
    }
    if (this.bytes + bytes > this.limits.runBytesMax) {
      throw errors.RUN_TOO_LARGE({ runId: this.runId, bytes: this.bytes + bytes, max: this.limits.runBytesMax });
    }
    return json;
  }

  private block(op: Op, attempt: number, error: unknown, startedAt: number, retryAt: number): void {
    this.failures.set(op.stepId, attempt);
    this.retryAt.set(op.stepId, retryAt);
    op.blockedUntil = retryAt;
    this.newAttempts.push({
      stepId: op.stepId,
      name: op.name,
      attempt,
      error: serializeError(error),
      startedAt,
      endedAt: this.ports.now(),
      retryAt,
    });
  }

  // ------------------------------------------------------------------------------------------------ resolving

  private planReplay(): void {
    if (this.replayPlanned) return;
    this.replayPlanned = true;
    this.ports.soon(() => {
      this.replayPlanned = false;
      this.replayNext();
    });
  }

  /** One outcome at a time, the earliest recorded first, so that a race has the winner it had. */
  private replayNext(): void {
    if (this.isClosed || this.replaying.length === 0) return;
    let first = this.replaying[0]!;
    for (const op of this.replaying) {
      if (this.memo.get(op.stepId)!.stamp < this.memo.get(first.stepId)!.stamp) first = op;
    }
    this.replaying = this.replaying.filter((op) => op !== first);
    this.unreplayed.delete(first.stepId);
    this.settle(first, this.memo.get(first.stepId)!.outcome);
    if (this.replaying.length > 0) this.planReplay();
    else this.planCheck();
  }

  private settle(op: Op, outcome: Outcome): void {
    this.open.delete(op.stepId);
    if (outcome.kind === "value") op.resolve(fromJson(outcome.json));
    else op.reject(new StepError(op.name, readError(outcome.json)));
  }

  private remember(step: Step): void {
    this.memo.set(step.stepId, step);
    this.bytes += step.outcome.json.length;
  }

  private takeNews(news: readonly Step[]): void {
    for (const step of news) {
      this.remember(step);
      this.waiting.delete(step.stepId);
      const op = this.open.get(step.stepId);
      if (op !== undefined && !this.replaying.includes(op)) this.replaying.push(op);
    }
    if (this.replaying.length > 0) this.planReplay();
  }

  // ------------------------------------------------------------------------------------------------ committing

  /** Sends a patch and takes in what came back. */
  private async commit(patch: Patch): Promise<void> {
    const answer = await this.send(patch);
    if (answer === null) return;
    if ((patch.steps?.length ?? 0) > 0) {
      this.progressed = true;
      const after = this.ports.point("step:after-commit");
      if (after !== undefined) await after;
      if (this.isClosed) return;
    }
    patch.steps?.forEach((step, i) => {
      const outcome = answer.outcomes[i]!;
      // Its own stamp stays in the store; here it only has to come after everything recorded before it.
      this.remember({ ...step, outcome, stamp: Number.MAX_SAFE_INTEGER, worker: null });
      const op = this.open.get(step.stepId);
      if (op === undefined) return;
      // Behind earlier outcomes that are still to be handed out, it waits its turn.
      if (this.replaying.length > 0) this.replaying.push(op);
      else this.settle(op, outcome);
    });
    this.takeNews(answer.news);
    this.seen = Math.max(this.seen, answer.seen);
  }

  private async send(patch: Patch): Promise<Extract<AdvanceAnswer, { kind: "advanced" }> | null> {
    let answer: AdvanceAnswer;
    try {
      // New waits are committed before anything that may wake them.
      if (this.flushing !== null) await this.flushing;
      answer = await this.ports.advance(patch, this.seen);
    } catch (error) {
      this.giveUp(error instanceof Error ? error.message : String(error));
      return null;
    }
    if (this.isClosed) return null;
    if (answer.kind === "advanced") return answer;
    this.giveUp(answer.kind === "ended" ? `the run is ${answer.state}` : "another worker has the run");
    return null;
  }

  /** Writes down new waits and failed attempts while something else goes on. */
  private flush(): void {
    const waits = this.newWaits;
    const attempts = this.newAttempts;
    this.newWaits = [];
    this.newAttempts = [];
    const flushing = this.commit({ waits, attempts, next: { kind: "continue", collect: false } }).finally(() => {
      if (this.flushing === flushing) this.flushing = null;
    });
    this.flushing = flushing;
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
    if (this.isClosed || this.suspending || this.draining) return;
    if (this.replaying.length > 0 || this.found.length > 0 || this.open.size === 0) return;
    if (this.running === 0) {
      void this.suspend();
      return;
    }
    if (this.newWaits.length > 0 || this.newAttempts.length > 0) this.flush();
    this.armTimer();
  }

  private async suspend(): Promise<void> {
    this.suspending = true;
    this.running++;
    const dueAt = this.nextDueAt();
    const waits = this.newWaits;
    const attempts = this.newAttempts;
    this.newWaits = [];
    this.newAttempts = [];
    const before = this.ports.point("suspend:before-commit");
    if (before !== undefined) await before;
    const answer = await this.send({ waits, attempts, next: { kind: "suspend", dueAt } });
    if (answer !== null) {
      const after = this.ports.point("suspend:after-commit");
      if (after !== undefined) await after;
    }
    this.suspending = false;
    this.leave();
    if (answer === null) return;
    if (!answer.leased) {
      this.close({ kind: "suspended", dueAt: this.dueOf(dueAt, waits) });
      return;
    }
    this.takeNews(answer.news);
    this.seen = Math.max(this.seen, answer.seen);
    if (this.found.length > 0) this.planStart();
    this.planCheck();
  }

  private nextDueAt(): number | null {
    let dueAt = this.options.deadlineAt;
    for (const op of this.open.values()) {
      if (op.blockedUntil !== null) dueAt = Math.min(dueAt ?? op.blockedUntil, op.blockedUntil);
    }
    return dueAt;
  }

  /** The earliest time this run may be due again, for whoever sets an alarm. */
  private dueOf(dueAt: number | null, waits: readonly PlannedWait[]): number | null {
    return waits.reduce<number | null>((earliest, { wait }) => {
      if (wait.timeoutAt === null) return earliest;
      return Math.min(earliest ?? wait.timeoutAt, wait.timeoutAt);
    }, dueAt);
  }

  /** While attempts run, blocked siblings and finished sleeps need not wait for them. */
  private armTimer(): void {
    this.timer?.cancel();
    this.timer = null;
    const retryAt = [...this.open.values()].reduce<number | null>(
      (earliest, { blockedUntil }) =>
        blockedUntil === null ? earliest : Math.min(earliest ?? blockedUntil, blockedUntil),
      null,
    );
    const waitsOpen = [...this.open.keys()].some((stepId) => this.waiting.has(stepId));
    const now = this.ports.now();
    // Waits may end by a time this pass never saw, an earlier pass having begun them: a look each second finds them.
    const at = Math.min(retryAt ?? Number.POSITIVE_INFINITY, waitsOpen ? now + 1_000 : Number.POSITIVE_INFINITY);
    if (at === Number.POSITIVE_INFINITY) return;
    this.timer = this.ports.timer(Math.max(0, at - now), () => {
      this.timer = null;
      if (this.isClosed || this.suspending) return;
      for (const op of this.open.values()) {
        if (op.blockedUntil !== null && op.blockedUntil <= this.ports.now()) this.startAttempt(op);
      }
      if (waitsOpen) this.poke();
      this.planCheck();
    });
  }
}
