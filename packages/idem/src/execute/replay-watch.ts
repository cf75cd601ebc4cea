// Whether a pass asks again for what earlier passes asked for (docs/states.md#a-replay). Deterministic code does, and in the same order.
//
//   a step known from later on is asked for, one from before it was not ─▶ the turn ends ─┬─ it was asked for after all ─▶ nothing
//                                                                                        ├─ a sequence ────────────────▶ diverged
//                                                                                        └─ branches ──────────────────▶ the return tells
//   a new step is asked for, known ones were not (park, fail) ─▶ held until the turn ends ─┬─ asked for after all ───────▶ begins
//                                                                                        ├─ a sequence ────────────────▶ diverged
//                                                                                        └─ branches ─▶ held for 10 s ─▶ diverged
//   the run is to be given back, new ones stand where known ones of their sort did, a sequence ─────────────────────────▶ diverged (warn)
//   the code returned, known ones were not asked for ──────────────────────────────────────────────────────────────────▶ diverged
//
// A branch that awaits something of its own, a query say, may come to its step later than in the pass before, and is no divergence: so
// branches are given time, or are judged when the code returns. Code that throws is not judged: it may have come less far this time.
import type { Divergence, OnDiverged } from "../model/divergence.ts";
import type { StepKind } from "../model/step.ts";
import type { Timer } from "../platform/platform.ts";
import { type KnownStep, overlap, waitKinds } from "./known-step.ts";
import type { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";
import type { RunPorts } from "./ports.ts";

// Microtasks are over after one; code that goes through a few callbacks of its own is not late.
const settleTurns = 5;
// As long as a call for one step looks for it.
const patienceMs = 10_000;
// Of an app that a server calls: it does not know when its steps ran, so it cannot tell a branch from a sequence.
const blindPatienceMs = 1_000;

export interface Watched {
  readonly memo: Memo;
  readonly ports: Pick<RunPorts, "soon" | "timer">;
  readonly policy: OnDiverged;
  /** Whether recorded steps say when they ran. */
  readonly hasTimes: boolean;
  /** Outcomes on their way to the code. */
  readonly pending: () => number;
  readonly isOver: () => boolean;
  /** Held steps may begin, and the run may be given back. */
  readonly go: () => void;
  readonly diverged: (found: readonly Divergence[]) => void;
}

export class ReplayWatch {
  /** While true the run is not given back. */
  isJudging = false;
  private isHolding = false;
  private timer: Timer | null = null;
  private isParallel = false;
  /** Known steps the code has asked for again. */
  private readonly again: KnownStep[] = [];
  private latestPlace = -1;
  /** New steps it asked for, and how far it had come by then in the known ones. */
  private readonly fresh: { readonly name: string; readonly isWait: boolean; readonly after: number }[] = [];
  /** Their number when the doubt arose. */
  private freshCount = 0;

  constructor(private readonly of: Watched) {}

  /** The code asks for a step, beside this many others. */
  asked({ stepId, name }: { readonly stepId: string; readonly name: string }, kind: StepKind, beside: number): void {
    const { memo } = this.of;
    if (memo.unasked.size === 0) return;
    if (beside > 0) this.isParallel = true;
    const known = memo.unasked.get(stepId);
    if (known === undefined) {
      if (!memo.knows(stepId)) this.fresh.push({ name, isWait: waitKinds.has(kind), after: this.latestPlace });
      return;
    }
    memo.unasked.delete(stepId);
    this.again.push(known);
    this.latestPlace = Math.max(this.latestPlace, known.place);
    if (this.timer !== null && this.missing().length === 0) this.letGo();
    else if (this.skipped().length > 0) this.judge();
  }

  /** Whether these may not begin yet; `go` is called once they may. */
  holds(found: readonly Op[]): boolean {
    if (this.isHolding) return true;
    if (this.of.policy === "warn" || this.missing().length === 0) return false;
    const { memo } = this.of;
    if (found.every(({ stepId, name }) => memo.knows(stepId) || memo.isLetThrough(name))) return false;
    this.isHolding = true;
    this.judge();
    return true;
  }

  /** The code returned: what it has not asked for by now it will not. */
  atReturn(): readonly Divergence[] {
    this.stop();
    this.freshCount = this.fresh.length;
    return this.divergences(this.missing());
  }

  /** The run is about to be given back: whether it has something to tell before. */
  tellsBeforeSuspending(): boolean {
    const { policy, hasTimes, diverged } = this.of;
    if (policy !== "warn" || this.fresh.length === 0 || !hasTimes || !this.isSequence) return false;
    this.freshCount = this.fresh.length;
    // As far as each has a new one of its sort in its place: behind something that was put in, the others may still come.
    const pairs = this.inPlaceOf(this.missing());
    const unpaired = pairs.findIndex(({ asked }) => asked === null);
    const found = unpaired < 0 ? pairs : pairs.slice(0, unpaired);
    if (found.length === 0) return false;
    this.isJudging = true;
    diverged(found);
    return true;
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  /** The divergence is written down, or was none. */
  letGo(): void {
    this.stop();
    this.isJudging = false;
    this.isHolding = false;
    this.of.go();
  }

  private judge(): void {
    if (this.isJudging) return;
    this.isJudging = true;
    this.freshCount = this.fresh.length;
    void this.turnOver().then(() => this.look(false));
  }

  private async turnOver(): Promise<void> {
    const { ports, pending } = this.of;
    for (let quiet = 0; quiet < settleTurns; ) {
      await new Promise<void>((resolve) => ports.soon(resolve));
      quiet = pending() > 0 ? 0 : quiet + 1;
    }
  }

  private look(hasWaited: boolean): void {
    const { of } = this;
    if (of.isOver()) return;
    // Of what is held, the first one that is missing: those behind it may still come.
    const found = this.isHolding ? this.missing().slice(0, 1) : this.skipped();
    if (found.length === 0) this.letGo();
    else if (hasWaited || (this.isSequence && of.hasTimes)) of.diverged(this.divergences(found));
    else if (this.isSequence || this.isHolding) this.wait(this.isSequence ? blindPatienceMs : patienceMs);
    else this.letGo();
  }

  private wait(ms: number): void {
    this.timer = this.of.ports.timer(ms, () => {
      this.timer = null;
      this.look(true);
    });
  }

  /** Nothing ran beside anything else, in this pass or before: whatever the code has not come to, no branch of it will. */
  private get isSequence(): boolean {
    const { memo, hasTimes } = this.of;
    const { known } = memo;
    return !this.isParallel && !(hasTimes && known.some((a) => known.some((b) => a !== b && overlap(a, b))));
  }

  /** Steps that an earlier pass was through with before it began one that the code has asked for again. */
  private skipped(): KnownStep[] {
    // They stand in their order: a replay that follows it is not looked through at each of a thousand steps.
    const first = this.of.memo.unasked.values().next();
    if (first.done || first.value.place > this.latestPlace) return [];
    return this.missing().filter((known) =>
      this.again.some((later) => known.place < later.place && (!this.of.hasTimes || !overlap(known, later))),
    );
  }

  /** Known, not asked for, and not written down as diverged. */
  private missing(): KnownStep[] {
    const { memo } = this.of;
    return [...memo.unasked.values()].filter(({ stepId }) => !memo.isToldDiverged(stepId));
  }

  /** A step without a new one in its place gets the latest new one. */
  private divergences(found: readonly KnownStep[]): Divergence[] {
    const latest = this.fresh[this.freshCount - 1]?.name ?? null;
    return this.inPlaceOf(found).map((each) => ({ ...each, asked: each.asked ?? latest }));
  }

  /** With each the first new one of its sort that stands in its place. */
  private inPlaceOf(found: readonly KnownStep[]): Divergence[] {
    const fresh = this.fresh.slice(0, this.freshCount);
    return found.map(({ stepId, name, place, isWait }) => {
      const at = fresh.findIndex((each) => each.after < place && each.isWait === isWait);
      return { stepId, name, asked: at < 0 ? null : fresh.splice(at, 1)[0]!.name };
    });
  }
}
