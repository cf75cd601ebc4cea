// What becomes of the effects of one world: each leaves, or meets what its schedule has for it.
import type { Adversity, Schedule } from "../schedules.ts";
import type { Place, SeenEffect } from "../thing.ts";
import { type Caller, stepOf } from "./caller.ts";
import type { Life } from "./life.ts";
import type { ChangedCall, Simulation } from "./simulation.ts";
import type { Applied, AskedEffect, Carried, Effected } from "./watcher.ts";

/** Whose effects they are: what a world needs to know of a process. */
export interface Living extends Pick<Life, "index" | "isDead" | "isLoading" | "pass" | "freeze"> {}

export interface WorldEffectsOptions<L extends Living = Life> {
  readonly schedule: Schedule;
  readonly simulation: Simulation;
  readonly now: () => number;
  readonly stir: () => void;
  readonly say: (text: string) => void;
  readonly unproven: (what: string) => void;
  /** `isOutage`: nobody starts it again for longer than destinations remember. */
  readonly kill: (life: L, why: string, isOutage: boolean) => void;
  readonly cancel: (caller: Caller<L>, adversity: Adversity) => void;
  readonly happened: (adversity: Adversity) => void;
  /** Where a step was asked for, for what leaves it by the engine's own hand. */
  readonly placeOfStep: (runId: string, step: string) => Place | null;
}

type OfEffect = Extract<Adversity, { readonly effect: number }>;

export class WorldEffects<L extends Living = Life> {
  readonly seen: SeenEffect[] = [];
  private readonly fired = new Set<Adversity>();
  /** Steps that are to fail now. */
  private readonly throwing = new Map<string, Adversity>();
  /** What the process that takes over dies at, too. */
  private dying: { readonly title: string; readonly life: number; readonly by: Adversity } | null = null;
  private refusing: { readonly title: string; readonly status: 500 | 429 | 409 } | null = null;
  private isHealed = false;

  constructor(private readonly options: WorldEffectsOptions<L>) {}

  /** People mended what refused. */
  heal(): void {
    this.isHealed = true;
  }

  /** Whether this step is to fail now that its effect has happened; asked once. */
  throwsNow(step: string): boolean {
    const adversity = this.throwing.get(step);
    if (adversity !== undefined) this.options.happened(adversity);
    return this.throwing.delete(step);
  }

  async effect<T>(caller: Caller<L>, about: AskedEffect, apply: (by: Applied) => Carried<T>): Promise<Effected<T>> {
    const { life } = caller;
    const { stir, say, cancel, simulation } = this.options;
    stir();
    await life.pass();
    const call = simulation.callOf(caller, about);
    const recorded = simulation.recorded(call);
    if (recorded !== undefined) return { kind: "happened", value: recorded.value as T };
    const next = this.seen.length + 1;
    if (this.adverse("zombie", next) !== null) {
      say(`${about.title}: the process stands still just before it leaves`);
      life.freeze();
      await life.pass();
      say("the process that had been given up goes on");
    }
    const cancelled = this.adverse("cancel", next);
    if (cancelled !== null) {
      say(`a person cancels the run while ${about.title} is under way`);
      cancel(caller, cancelled);
    }
    const became = this.effectNow(caller, about, apply, call);
    await life.pass();
    return became;
  }

  effectNow<T>(
    caller: Caller<L>,
    about: AskedEffect,
    apply: (by: Applied) => Carried<T>,
    call: ChangedCall | null = this.options.simulation.callOf(caller, about),
  ): Effected<T> {
    const { life, run } = caller;
    const { stir, unproven, kill, simulation } = this.options;
    stir();
    if (life.isDead) return { kind: "lost" };
    const recorded = simulation.recorded(call);
    if (recorded !== undefined) return { kind: "happened", value: recorded.value as T };
    if (life.isLoading) {
      unproven(`${about.title} was asked for while the module was being loaded`);
      return { kind: "lost" };
    }
    const step = stepOf(caller)?.step ?? null;
    const index = this.seen.length + 1;
    const note = (became: SeenEffect["became"], isForgotten = false) =>
      this.note(caller, about, index, became, isForgotten);
    const dies = this.adverse("die-at-effect", index) ?? this.adverse("outage", index);
    if (dies?.kind === "die-at-effect" && dies.side === "before") {
      note("never-left");
      kill(life, "before the request left", false);
      return { kind: "lost" };
    }
    const status = this.refusalOf(about.title, index);
    if (status !== null) {
      note("refused");
      simulation.noteEnd(about.title, false);
      return { kind: "refused", status };
    }
    const by = { fn: run?.fn ?? null, effect: index };
    const { value, isRepeat, isForgotten = false } = simulation.carry(call, by, apply);
    const isLost = this.adverse("lost-answer", index) !== null;
    note(isLost ? "lost" : isRepeat ? "answered-before" : "happened", isForgotten);
    const throws = this.adverse("throw-after-effect", index);
    if (throws !== null && step !== null) this.throwing.set(step, throws);
    const again = this.dying?.title === about.title && life.index > this.dying.life ? this.dying : null;
    if (dies !== null || again !== null) {
      if (again !== null) this.options.happened(again.by);
      const isTwice = dies?.kind === "die-at-effect" && dies.times === 2;
      this.dying = isTwice ? { title: about.title, life: life.index, by: dies } : null;
      kill(life, "it had been answered, and nothing was recorded yet", dies?.kind === "outage");
    }
    simulation.noteEnd(about.title, !isLost);
    if (!isLost && !life.isDead) simulation.heard(call, value);
    return isLost ? { kind: "lost" } : { kind: "happened", value };
  }

  private refusalOf(title: string, index: number): 500 | 429 | 409 | null {
    const refused = this.adverse("refused", index);
    if (refused?.isAlways === true) this.refusing = { title, status: refused.status };
    if (refused !== null) return refused.status;
    return !this.isHealed && this.refusing?.title === title ? this.refusing.status : null;
  }

  private note(
    caller: Caller<L>,
    about: AskedEffect,
    index: number,
    became: SeenEffect["became"],
    isForgotten: boolean,
  ): void {
    const { life, run, place = null } = caller;
    const { now, say, placeOfStep } = this.options;
    const step = stepOf(caller);
    const isLate = step?.isOver === true || run?.isOver === true;
    this.seen.push({
      index,
      ...about,
      at: now(),
      life: life.index,
      fn: run?.fn ?? null,
      runId: run?.runId ?? null,
      step: step?.step ?? null,
      isLate,
      place: place ?? (run === null || step === null ? null : placeOfStep(run.runId, step.step)),
      isForgotten,
      became,
    });
    const outside = run?.isCall === true ? "the handler" : "outside any step";
    const where = step === null ? outside : `step ${step.step}`;
    say(`${where}${isLate ? ", after it had ended" : ""}   ${about.title}   ${outcomeWords[became]}`);
  }

  /** The adversity that meets this effect, once. */
  private adverse<K extends OfEffect["kind"]>(kind: K, index: number): Extract<OfEffect, { kind: K }> | null {
    for (const adversity of this.options.schedule.adversities) {
      if (adversity.kind !== kind || this.fired.has(adversity)) continue;
      const found = adversity as Extract<OfEffect, { kind: K }>;
      if (found.effect !== index) continue;
      this.fired.add(adversity);
      if (!happensLater(adversity)) this.options.happened(adversity);
      return found;
    }
    return null;
  }
}

/** Met here, and come about only further on: where the step ends, where the store is told, where the next process comes by. */
const happensLater = (adversity: Adversity): boolean =>
  adversity.kind === "throw-after-effect" ||
  adversity.kind === "cancel" ||
  (adversity.kind === "die-at-effect" && adversity.times === 2);

const outcomeWords: Readonly<Record<SeenEffect["became"], string>> = {
  happened: "→ happened",
  "answered-before": "→ answered as before, by its key",
  "never-left": "→ never left",
  refused: "→ refused",
  lost: "→ happened, its answer was lost",
};
