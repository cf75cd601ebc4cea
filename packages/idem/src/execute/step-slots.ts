// Steps of one run side by side, each in a slot of its own of the limits that count steps (docs/states.md, "Steps side by side"). The run's own
// slot is always there; every commit asks for those beside it, and every answer says how many it has:
//
//   in line ──▶ let in: the run's own slot, or one beside it that an answer gave ──▶ leaving: its body is over ──▶ gone, once that is committed
//
// A commit's `level` never counts a body that is at work as given back, and no more are let in than the last answer said, less what a commit on
// its way gives back.
import type { BesideAsked } from "../flow/concurrency/beside.ts";
import type { Timer } from "../platform/platform.ts";
import type { SlotsPort } from "./ports.ts";
import type { StepLine } from "./slots.ts";

export type BesideLevel = Pick<BesideAsked, "turn" | "keep" | "want">;

// Slots that this process frees are announced; this is for those that others free.
const askMs = 1_000;
const askMsMax = 5_000;

export interface StepSlotsOf {
  readonly port: SlotsPort;
  readonly soon: (run: () => void) => void;
  readonly timer: (ms: number, run: () => void) => Timer;
  /** A commit that has nothing to say but what is wanted. */
  readonly commit: () => void;
  /** Whether something may still begin. */
  readonly mayBegin: () => boolean;
}

export class StepSlots implements StepLine {
  private readonly line: (() => void)[] = [];
  private inside = 0;
  /** Of those inside. */
  private leaving = 0;
  /** By the last answer; null while it is unknown what the lease held before. */
  private held: number | null;
  /** Of these: those that may be used. */
  private usable = 0;
  /** By the last commit that asked. */
  private wanted = 0;
  private isPlanned = false;
  private wait: { readonly timer: Timer; readonly forget: () => void } | null = null;
  private waitMs = askMs;

  constructor(private readonly of: StepSlotsOf) {
    this.held = of.port.isNew ? 0 : null;
  }

  /** By a sibling, or, of a slot that is not the run's own, by another run. */
  get isWaitedFor(): boolean {
    return this.line.length > 0 || this.held !== 0;
  }

  enter(begin: () => void): void {
    if (this.line.length === 0 && this.hasRoom) this.letIn(begin);
    else {
      this.line.push(begin);
      if (this.wait === null) this.plan();
    }
  }

  /** The next commit gives its slot back. */
  bodyIsOver(): void {
    this.leaving++;
  }

  leave(): void {
    this.inside--;
    if (this.leaving > 0) this.leaving--;
    this.admit();
  }

  /** Those in line for whom there is room, by what the last answer said. */
  admit(): void {
    while (this.line.length > 0 && this.hasRoom) this.letIn(this.line.shift()!);
    if (this.line.length === 0) this.stopWaiting();
    // Slots that a step's own commit did not ask for or give back.
    if (this.line.length > 0 ? this.wait === null : this.usable > this.level().keep) this.plan();
  }

  /** The level a commit carries; undefined where it has nothing to say. */
  said(): BesideLevel | undefined {
    const level = this.level();
    this.wanted = level.want;
    this.usable = Math.min(this.usable, level.keep);
    return this.held === 0 && level.want === 0 ? undefined : { ...level, turn: this.of.port.nextTurn() };
  }

  answered(beside: number): void {
    const before = this.held ?? 0;
    this.held = beside;
    this.usable = beside;
    if (beside < before) this.of.port.gaveBack();
    if (beside > before) this.waitMs = askMs;
    if (this.wait === null && beside < this.wanted) this.waitForMore();
  }

  stop(): void {
    this.stopWaiting();
  }

  private get hasRoom(): boolean {
    return this.inside < 1 + this.usable;
  }

  private letIn(begin: () => void): void {
    this.inside++;
    begin();
  }

  private level(): Omit<BesideLevel, "turn"> {
    const atWork = this.inside - this.leaving;
    const keep = Math.max(0, atWork - 1);
    return { keep, want: Math.max(keep, atWork + this.line.length - 1) };
  }

  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    this.of.soon(() => {
      this.isPlanned = false;
      if (!this.of.mayBegin()) return;
      const { keep } = this.level();
      const isWanting = this.line.length > 0 && !this.hasRoom && this.wait === null;
      if (isWanting || this.usable > keep) this.of.commit();
    });
  }

  private waitForMore(): void {
    const ask = () => {
      this.stopWaiting();
      this.plan();
    };
    const timer = this.of.timer(this.waitMs, ask);
    this.waitMs = Math.min(this.waitMs * 2, askMsMax);
    this.wait = { timer, forget: this.of.port.whenFreed(ask) };
  }

  private stopWaiting(): void {
    this.wait?.timer.cancel();
    this.wait?.forget();
    this.wait = null;
  }
}
