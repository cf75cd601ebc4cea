// When nothing runs and something is blocked or waiting, the run is given back and the code forgotten; while something runs, a
// timer looks after what is blocked or waiting beside it.
import type { Timer } from "../platform/platform.ts";
import type { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";
import type { PassCommits } from "./pass-commits.ts";
import type { PassState } from "./pass-state.ts";
import type { RunPorts } from "./ports.ts";

/** The part of the pass that a suspension needs. */
export interface Suspendable {
  /** Not later than this the run is looked at again. */
  readonly deadlineAt: number | null;
  readonly mayStart: boolean;
  /** The code has begun operations that are not looked at yet, or it is being judged whether it still asks for what it did before. */
  readonly hasFound: boolean;
  /** Something is written first, which plans this anew. */
  readonly tellsFirst: boolean;
  planStart(): void;
  startAttempt(op: Op): void;
}

export class Suspension {
  /** The run is being given back. */
  isUnderWay = false;
  private isPlanned = false;
  private timer: Timer | null = null;
  private isWatched = false;
  /** Work that is due beside a running attempt waits for the store's word. */
  private isAsking = false;

  constructor(
    private readonly ports: Pick<RunPorts, "soon" | "timer" | "point" | "reached">,
    private readonly state: PassState,
    private readonly commits: PassCommits,
    private readonly pass: Suspendable,
  ) {}

  /** Looks, soon, whether there is nothing left to do but to wait. */
  plan(): void {
    if (this.isPlanned || this.state.isClosed) return;
    this.isPlanned = true;
    this.ports.soon(() => {
      this.isPlanned = false;
      this.check();
    });
  }

  /** The same, if something open is neither being attempted nor on its way to the code. */
  planIfBlocked(): void {
    if (this.state.open.size > this.state.attempting) this.plan();
  }

  private check(): void {
    const { handOut, open, attempting, running } = this.state;
    if (!this.pass.mayStart) return;
    if (handOut.pending > 0 || this.pass.hasFound || open.size === attempting) return;
    if (running === 0) {
      if (!this.pass.tellsFirst) void this.suspend();
      return;
    }
    void this.commits.flush();
    this.armTimer();
  }

  private async suspend(): Promise<void> {
    const { state, commits, pass, ports } = this;
    this.isUnderWay = true;
    state.enter();
    const dueAt = earliest([pass.deadlineAt, nextRetryAt(state.open)]);
    const unsaved = state.unsaved.take() ?? {};
    const before = ports.point("suspend:before-commit");
    if (before !== undefined) await before;
    const answer = await commits.send({ ...unsaved, next: { kind: "suspend", dueAt } });
    if (answer !== null) {
      const after = ports.point("suspend:after-commit");
      if (after !== undefined) await after;
    }
    this.isUnderWay = false;
    state.leave();
    if (answer === null) return;
    if (!answer.leased) {
      state.close({ kind: "suspended", dueAt: earliest([dueAt, ...state.memo.timeouts]) });
      return;
    }
    commits.take(answer.news, answer.seen);
    if (pass.hasFound) pass.planStart();
    this.plan();
  }

  /** While attempts run, blocked siblings and finished sleeps need not wait for them. */
  private armTimer(): void {
    const { state, pass, ports } = this;
    this.timer?.cancel();
    this.timer = null;
    if (this.isAsking) return;
    const now = ports.reached();
    const lookAt = nextLook(state.open, state.memo, now);
    if (lookAt === null) return;
    if (!this.isWatched) state.onClosed(() => this.timer?.cancel());
    this.isWatched = true;
    this.timer = ports.timer(Math.max(0, lookAt - now), () => {
      this.timer = null;
      if (pass.mayStart) void this.goOn();
    });
  }

  /**
   * A step begins by the answer to the commit before it. What was blocked has waited since: it asks first, for the run may have been
   * cancelled on another node whose hint got lost.
   */
  private async goOn(): Promise<void> {
    const { state, commits, pass, ports } = this;
    this.isAsking = true;
    await commits.commit({ next: { kind: "continue", collect: true } });
    this.isAsking = false;
    if (!pass.mayStart) return;
    for (const op of state.open.values()) {
      if (op.blockedUntil !== null && op.blockedUntil <= ports.reached()) pass.startAttempt(op);
    }
    this.plan();
  }
}

// When a pass that still runs something must look at what is blocked or waiting beside it. Pure.

// An event that another node delivers is not announced here: a look each second finds it.
const lookMs = 1_000;

const earliest = (times: readonly (number | null)[]): number | null =>
  times.reduce((a, b) => (a === null ? b : b === null ? a : Math.min(a, b)), null);

const nextRetryAt = (open: ReadonlyMap<string, Op>): number | null =>
  earliest([...open.values()].map((op) => op.blockedUntil));

function nextLook(open: ReadonlyMap<string, Op>, memo: Memo, now: number): number | null {
  const waitsOpen = [...open.keys()].some((stepId) => memo.isWaiting(stepId));
  const ends = waitsOpen ? memo.timeouts.filter((at) => at !== null && at > now) : [];
  return earliest([nextRetryAt(open), waitsOpen ? now + lookMs : null, ...ends]);
}
