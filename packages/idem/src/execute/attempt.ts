// One attempt of an operation, from its entry to the commit that holds what came of it:
//
//   ┌ gate, crash point ┐        ┌─ threw, to be tried again ──▶ unsaved, blocked until its time ─┐
//   └───────────────────┴─▶ body ┼─ threw for the last time ──▶ crash point ─▶ commit ────────────┼─▶ over
//                                ├─ a value ───────────────────▶ crash point ─▶ commit ───────────┤
//                                └─ recorded it itself ───────────────────────────────────────────┘
//
// Nothing waits that need not: for a body that answers at once, without middleware and crash points, all up to the commit is one turn of the
// event loop, and the commit's answer is the only promise.
import { AsyncResource } from "node:async_hooks";
import type { LogLevel } from "../model/log-line.ts";
import { type Attempted, checkSize, failed, type PassLimits, succeeded } from "./attempt-step.ts";
import { attemptTransaction } from "./attempt-transaction.ts";
import type { Committed } from "./commit-queue.ts";
import type { AttemptFacts, Op, OpIds, Ran } from "./operation.ts";
import type { PassCommits } from "./pass-commits.ts";
import type { PassState } from "./pass-state.ts";
import type { AttemptTrace, Patch, RunPorts } from "./ports.ts";
import { type Backoff, wasUnreached } from "./retry.ts";
import { Lines, lineOfStep } from "./run-log.ts";
import type { StepLine } from "./slots.ts";
import { StepBody, type StepLines } from "./step-body.ts";
import { isThenable, type StepLimit, stepLimit } from "./step-limit.ts";

/** The part of a pass that its attempts need. */
export interface AttemptsOf {
  readonly runId: string;
  readonly ports: RunPorts;
  readonly state: PassState;
  readonly commits: PassCommits;
  readonly limits: PassLimits;
  readonly slots: StepLine | null;
  readonly options: {
    readonly attemptsMax: number;
    readonly backoff: Backoff | null;
    readonly stepTimeoutMs: number | null;
    readonly around: ((op: OpIds & { attempt: number }, run: () => Promise<Ran>) => Promise<Ran>) | null;
  };
  /** Of steps without a limit of their own. */
  readonly unlimited: StepLimit;
  readonly entered: number;
  attemptIsOver(): void;
}

export class Attempt implements AttemptFacts, StepLines, Committed {
  readonly attempt: number;
  readonly body: StepBody;
  entered = 1;
  signal!: StepLimit["signal"];
  within!: StepLimit["within"];
  trace: AttemptTrace | null = null;
  private readonly unreached: number;
  private startedAt = 0;
  /** Of the value, while it is on its way into the store. */
  private bytes = 0;
  private lines: Lines | null = null;
  private linesCount = 0;

  constructor(
    private readonly of: AttemptsOf,
    private readonly op: Op,
  ) {
    const failures = of.state.memo.failures(op.stepId);
    this.unreached = failures?.unreached ?? 0;
    this.attempt = (failures?.count ?? 0) - this.unreached + 1;
    this.body = new StepBody(of, op.name, of.ports.keepsLogs === true ? this : null);
  }

  begin(): void {
    const { gate } = this.of.state;
    if (gate === null) this.reach();
    else void gate.then(() => this.reach());
  }

  private reach(): void {
    const point = this.of.ports.point("step:before-attempt");
    if (point === undefined) this.enter();
    else void point.then(() => this.enter());
  }

  /** A line its body wrote. */
  add(level: LogLevel, args: readonly unknown[]): void {
    this.lines ??= new Lines();
    this.lines.add(lineOfStep(this.op.stepId, this.linesCount++, this.of.state.said(level, args, this.attempt)));
  }

  private enter(): void {
    try {
      this.enterBody();
    } catch (defect) {
      this.broken(defect);
    }
  }

  private enterBody(): void {
    const { of, op } = this;
    const { state, ports, options } = of;
    if (!state.isClosed && !ports.isHeld()) state.giveUp("its lease may have ended");
    if (state.isClosed) {
      of.attemptIsOver();
      return;
    }
    this.startedAt = ports.now();
    this.entered = of.entered;
    const limitMs = op.work.kind === "wait" ? null : (op.work.limitMs ?? options.stepTimeoutMs);
    const limit = limitMs === null ? of.unlimited : stepLimit(op.name, limitMs, state, ports);
    this.signal = limit.signal;
    this.within = limit.within;
    const isElsewhere = op.work.kind === "attempt" && op.work.isElsewhere === true;
    if (ports.trace !== undefined && !isElsewhere) this.trace = ports.trace.attempt(op, this.attempt);
    let ran: Ran | Promise<Ran>;
    try {
      ran = this.body.run(runWork, this);
    } catch (error) {
      this.conclude(null, error);
      return;
    }
    if (!isThenable(ran)) this.conclude(ran, null);
    else
      ran.then(
        (value) => this.conclude(value, null),
        (error) => this.conclude(null, error),
      );
  }

  /** The work itself, inside its body's context. */
  work(): Ran | Promise<Ran> {
    const { op, of } = this;
    const { work } = op;
    if (work.kind === "attempt") {
      const isBare = this.trace === null && of.options.around === null;
      return isBare ? work.run(this) : this.around(() => work.run(this));
    }
    if (work.kind === "wait") throw new Error("a wait runs no code");
    const { ports, state, commits } = of;
    return attemptTransaction({
      ...{ op, work, facts: this, startedAt: this.startedAt, ports, state, commits },
      around: async (run) => this.check(await this.around(run)),
    });
  }

  private around(run: () => Ran | Promise<Ran>): Ran | Promise<Ran> {
    const { around } = this.of.options;
    const entered = around === null ? run : () => around({ ...this.op, attempt: this.attempt }, async () => run());
    return this.trace === null ? entered() : this.trace.within(entered);
  }

  /** Before anything of it is kept. */
  private check(ran: Ran): Ran {
    const { state, runId, limits, ports } = this.of;
    this.body.throwIfNested();
    this.bytes = checkSize(ran.json, this.op, { id: runId, bytes: state.bytes }, limits);
    ports.room?.learn(this.bytes);
    state.comes(this.bytes);
    return ran;
  }

  /** A defect of ours must not leave the run unattended. */
  private conclude(ran: Ran | null, error: unknown): void {
    try {
      this.goOn(this.attempted(ran, error));
    } catch (defect) {
      this.broken(defect);
    }
  }

  private broken(error: unknown): void {
    this.of.state.close({ kind: "broken", error });
    this.of.attemptIsOver();
  }

  private attempted(ran: Ran | null, error: unknown): Attempted {
    const { options, ports } = this.of;
    let thrown = error;
    if (ran !== null) {
      try {
        return succeeded(this.op.work.kind === "attempt" ? this.check(ran) : ran);
      } catch (refused) {
        thrown = refused;
      }
    }
    const { attempt, unreached } = this;
    const { attemptsMax, backoff } = options;
    const attempted = failed(thrown, { attemptsMax, backoff, attempt, unreached }, ports);
    this.trace?.failed(thrown, attempted.kind === "retry" ? attempted.retryAt : null);
    return attempted;
  }

  private goOn(attempted: Attempted): void {
    const { of, op, lines } = this;
    const { state, ports, commits, slots } = of;
    this.trace?.end();
    this.body.isOver = true;
    if (state.isClosed) {
      of.attemptIsOver();
      return;
    }
    const endedAt = ports.now();
    const { work, stepId, name } = op;
    if (attempted.kind !== "outcome") this.forgetBytes();
    if (attempted.kind === "recorded") {
      // By a commit of its own: they come behind it with the next one.
      if (lines !== null) state.lines.join(lines);
      of.attemptIsOver();
      return;
    }
    const given = work.kind === "attempt" ? work : null;
    const startedAt = Math.min(this.startedAt, given?.began?.() ?? this.startedAt);
    const input = state.memo.inputOf(stepId, given?.input?.() ?? null);
    if (attempted.kind === "retry") {
      const { error, retryAt } = attempted;
      state.hasFailed = true;
      state.memo.fail(stepId, name, retryAt, wasUnreached(error));
      op.blockedUntil = retryAt;
      op.context ??= new AsyncResource("idem.step");
      const tries = state.memo.failureCount(stepId);
      const facts = { stepId, name, attempt: tries, error, startedAt, endedAt, retryAt, input };
      state.unsaved.addAttempt({ ...facts, counted: this.attempt }, lines);
      // The next in line has waited: it begins by the answer to this commit.
      if (slots?.isWaitedFor === true) {
        slots.bodyIsOver();
        void commits.flush().then(() => of.attemptIsOver());
      } else of.attemptIsOver();
      return;
    }
    const { outcome, sends } = attempted;
    const { repeat, kind } = op;
    const steps = [{ stepId, name, repeat, kind, outcome, attempt: this.attempt, startedAt, endedAt, input }];
    // Beside waits it must be known what ended before this step: the first wins the race, now and on replay.
    const next = state.memo.hasWaits ? collecting : continuing;
    const patch: Patch = lines === null ? { steps, sends, next } : { steps, sends, lines, next };
    slots?.bodyIsOver();
    const before = ports.point("step:before-commit");
    if (before === undefined) commits.add(patch, this);
    else void before.then(() => commits.add(patch, this));
  }

  committed(): void {
    this.forgetBytes();
    this.of.attemptIsOver();
  }

  private forgetBytes(): void {
    this.of.state.comes(-this.bytes);
    this.bytes = 0;
  }
}

const collecting = { kind: "continue", collect: true } as const;
const continuing = { kind: "continue", collect: false } as const;

const runWork = (attempt: Attempt): Ran | Promise<Ran> => attempt.work();
