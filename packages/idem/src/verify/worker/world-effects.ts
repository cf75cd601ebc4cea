// The fate of each effect of one world: it leaves, or meets what its schedule has for it.
import type { Adversity, Schedule } from "../schedules.ts";
import type { Place, SeenEffect } from "../thing.ts";
import { type Caller, stepOf } from "./caller.ts";
import type { Life } from "./life.ts";
import type { ChangedCall, Simulation } from "./simulation.ts";
import type { Applied, AskedEffect, Carried, Effected } from "./watcher.ts";

/** The owner of effects, as far as a world needs to know a process. */
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

/** On its way. */
interface Begun {
  readonly index: number;
  readonly dies: Extract<Adversity, { kind: "die-at-effect" | "outage" }> | null;
  readonly by: Omit<Applied, "key">;
}

type OfEffect = Extract<Adversity, { readonly effect: number }>;

export class WorldEffects<L extends Living = Life> {
  readonly seen: SeenEffect[] = [];
  /** Numbers that are given. */
  private taken = 0;
  private readonly fired = new Set<Adversity>();
  /** Steps that are to fail now. */
  private readonly throwing = new Map<string, Adversity>();
  /** The process that takes over dies at this, too. */
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
    const { call, recorded } = await this.leave(caller, about);
    if (recorded !== undefined) return { kind: "happened", value: recorded.value as T };
    const became = this.effectNow(caller, about, apply, call);
    await caller.life.pass();
    return became;
  }

  /** The same for what is really carried out, by a server that takes its time. */
  async effectLater<T>(
    caller: Caller<L>,
    about: AskedEffect,
    apply: (by: Applied) => Promise<Carried<T>>,
  ): Promise<Effected<T>> {
    const { call, recorded } = await this.leave(caller, about);
    if (recorded !== undefined) return { kind: "happened", value: recorded.value as T };
    return this.carryLater(caller, about, apply, call);
  }

  /** The same for a process that stands still until it is answered: while it does, nobody else of it can go on, and nothing comes between. */
  effectStill<T>(
    caller: Caller<L>,
    about: AskedEffect,
    apply: (by: Applied) => Promise<Carried<T>>,
  ): Promise<Effected<T>> {
    return this.carryLater(caller, about, apply, this.options.simulation.callOf(caller, about));
  }

  private async carryLater<T>(
    caller: Caller<L>,
    about: AskedEffect,
    apply: (by: Applied) => Promise<Carried<T>>,
    call: ChangedCall | null,
  ): Promise<Effected<T>> {
    const { simulation } = this.options;
    const begun = this.begin(caller, about);
    if ("became" in begun) {
      await caller.life.pass();
      return begun.became;
    }
    const { index, by } = begun;
    let carried: Carried<T>;
    try {
      carried = await simulation.carryLater(call, by, apply);
    } catch (error) {
      // It was refused: nothing happened, and the number is free unless others came after it.
      if (this.taken === index) this.taken--;
      await caller.life.pass();
      throw error;
    }
    const became = this.end(caller, about, begun, call, carried);
    await caller.life.pass();
    return became;
  }

  /** Up to the instant at which it leaves. */
  private async leave(
    caller: Caller<L>,
    about: AskedEffect,
  ): Promise<{ readonly call: ChangedCall | null; readonly recorded: { readonly value: unknown } | undefined }> {
    const { life } = caller;
    const { stir, say, cancel, simulation } = this.options;
    stir();
    await life.pass();
    const call = simulation.callOf(caller, about);
    const recorded = simulation.recorded(call);
    if (recorded !== undefined) return { call, recorded };
    const next = this.taken + 1;
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
    return { call, recorded: undefined };
  }

  effectNow<T>(
    caller: Caller<L>,
    about: AskedEffect,
    apply: (by: Applied) => Carried<T>,
    call: ChangedCall | null = this.options.simulation.callOf(caller, about),
  ): Effected<T> {
    const { simulation } = this.options;
    const recorded = caller.life.isDead ? undefined : simulation.recorded(call);
    if (recorded !== undefined) return { kind: "happened", value: recorded.value as T };
    const begun = this.begin(caller, about);
    if ("became" in begun) return begun.became;
    let carried: Carried<T>;
    try {
      carried = simulation.carry(call, begun.by, apply);
    } catch (error) {
      this.taken--;
      throw error;
    }
    return this.end(caller, about, begun, call, carried);
  }

  /** It has a number now, or what became of it without leaving. */
  private begin(
    caller: Caller<L>,
    about: AskedEffect,
  ): Begun | { readonly became: Extract<Effected<never>, { kind: "lost" | "refused" }> } {
    const { life, run } = caller;
    const { stir, unproven, kill, simulation } = this.options;
    stir();
    if (life.isDead) return { became: { kind: "lost" } };
    if (life.isLoading) {
      unproven(`${about.title} was asked for while the module was being loaded`);
      return { became: { kind: "lost" } };
    }
    const index = ++this.taken;
    const dies = this.adverse("die-at-effect", index) ?? this.adverse("outage", index);
    if (dies?.kind === "die-at-effect" && dies.side === "before") {
      this.note(caller, about, index, "never-left", false);
      kill(life, "before the request left", false);
      return { became: { kind: "lost" } };
    }
    const status = this.refusalOf(about.title, index);
    if (status !== null) {
      this.note(caller, about, index, "refused", false);
      simulation.noteEnd(about.title, false);
      return { became: { kind: "refused", status } };
    }
    return { index, dies, by: { fn: run?.fn ?? null, effect: index } };
  }

  private end<T>(
    caller: Caller<L>,
    about: AskedEffect,
    { index, dies }: Begun,
    call: ChangedCall | null,
    { value, isRepeat, isForgotten = false }: Carried<T>,
  ): Effected<T> {
    const { life } = caller;
    const { kill, simulation } = this.options;
    const step = stepOf(caller)?.step ?? null;
    const isLost = this.adverse("lost-answer", index) !== null;
    this.note(caller, about, index, isLost ? "lost" : isRepeat ? "answered-before" : "happened", isForgotten);
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

/** Met here, and come about only further on: where the step ends, where the store hears of it, where the next process comes by. */
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
