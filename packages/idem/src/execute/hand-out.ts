// Gives recorded outcomes to the code, one at a time and the earliest recorded first, so that a race has the winner it had.
import { fromJson } from "../model/json.ts";
import type { Step } from "../model/step.ts";
import { readError, StepError } from "../model/user-errors.ts";
import type { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";
import type { RunPorts } from "./ports.ts";

/** Called once everything that was to be handed out is. */
export interface HandingOut {
  handedOut(): void;
}

export class HandOut {
  /** Operations the code has begun and that have not settled. */
  readonly open = new Map<string, Op>();
  private queue: Op[] = noOps;
  private isPlanned = false;

  constructor(
    private readonly memo: Memo,
    private readonly ports: Pick<RunPorts, "soon">,
    private readonly pass: HandingOut,
  ) {}

  /** Operations with an outcome that the code has not received yet. */
  get pending(): number {
    return this.queue.length;
  }

  /** Its outcome is in the memo. */
  add(op: Op): void {
    if (this.queue.length === 0) this.queue = [op];
    else this.queue.push(op);
    this.plan();
  }

  /** New outcomes; false when none of them was new. Behind earlier ones that are still to be handed out they wait their turn. */
  take(steps: readonly Step[]): boolean {
    // One after the other, as the steps of most code are.
    const [first] = steps;
    if (steps.length === 1 && this.queue.length === 0) {
      if (!this.memo.record(first!)) return false;
      const op = this.open.get(first!.stepId);
      if (op !== undefined) this.settle(op);
      return true;
    }
    const recorded = steps.filter((step) => this.memo.record(step));
    const waitTheirTurn = recorded.length > 1 || this.queue.length > 0;
    for (const { stepId } of recorded) {
      const op = this.open.get(stepId);
      if (op === undefined) continue;
      if (waitTheirTurn) this.add(op);
      else this.settle(op);
    }
    return recorded.length > 0;
  }

  /** The code receives nothing more. */
  stop(): void {
    this.queue = noOps;
  }

  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    this.ports.soon(() => {
      this.isPlanned = false;
      this.next();
    });
  }

  private next(): void {
    if (this.queue.length === 0) return;
    const stampOf = (op: Op): number => this.memo.get(op.stepId)!.stamp;
    const first = this.queue.reduce((a, b) => (stampOf(b) < stampOf(a) ? b : a));
    this.queue = this.queue.filter((op) => op !== first);
    this.settle(first);
    if (this.queue.length > 0) this.plan();
    else this.pass.handedOut();
  }

  private settle(op: Op): void {
    this.open.delete(op.stepId);
    const outcome = this.memo.handOut(op.stepId);
    if (outcome.kind === "error") {
      op.answer.reject(new StepError(op.name, readError(outcome.json)));
      return;
    }
    const value = fromJson(outcome.json);
    const read = op.work.kind === "attempt" ? op.work.read : undefined;
    try {
      op.answer.resolve(read === undefined ? value : read(value));
    } catch (error) {
      op.answer.reject(error);
    }
  }
}

// Never pushed to: where there is none, the first makes a list.
const noOps: never[] = [];
