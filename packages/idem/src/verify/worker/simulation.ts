// Changes to a function that nobody has made yet, as a world plays them (mends/change.ts): a mend is shown only where the verdict holds with it.
import { type DestinationOf, destinationKey } from "../../dedup/destination-key.ts";
import { StepBody } from "../../execute/step-body.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { type Change, isOneOf, withFunctionKey } from "../mends/change.ts";
import type { Place } from "../thing.ts";
import { type Caller, currentCaller, placeHere } from "./caller.ts";
import { Chance } from "./chance.ts";
import { realTurn } from "./real.ts";
import type { Applied, AskedEffect, Carried } from "./watcher.ts";

type EffectChange = Extract<Change, { kind: "effect" }>;

/** One call of the user's code that a change is about. */
export interface ChangedCall {
  readonly change: EffectChange;
  /** Names it within its piece of work, the same each time the code comes by. */
  readonly key: string;
  readonly runId: string;
  readonly answered: () => void;
}

/** Whose: a step's body, or one entry into a function's code. */
type Owner = object;

export class Simulation {
  private readonly works = new Map<string, DestinationOf>();
  private readonly stepKeys = new WeakMap<Owner, string>();
  private readonly answeredCounts = new WeakMap<Owner, Map<string, number>>();
  /** Steps of their own that are recorded, by run and call. */
  private readonly recordedCalls = new Map<string, unknown>();
  /** Found by a look-up, by call. */
  private readonly arrived = new Map<string, Carried<unknown>>();
  private readonly begun = new WeakMap<Owner, number>();
  private readonly failed = new WeakMap<Owner, Set<string>>();
  private readonly firstEntered = new Map<string, number>();
  private readonly chances = new WeakMap<Owner, Chance>();
  /** Where clock and chance were read outside steps. */
  readonly drawn = new Map<string, { readonly what: "clock" | "chance"; readonly place: Place }>();

  constructor(private readonly changes: readonly Change[]) {}

  private has(kind: Change["kind"]): boolean {
    return this.changes.some((each) => each.kind === kind);
  }

  configOf(config: FunctionConfig): FunctionConfig {
    const keyed = this.changes.find((each) => each.kind === "function-key");
    return keyed === undefined ? config : withFunctionKey(config, keyed.expression);
  }

  /** Before the function's code is entered. */
  async enterRun(runId: string, now: number, find: () => Promise<DestinationOf | null>): Promise<void> {
    if (this.changes.length === 0) return;
    if (!this.firstEntered.has(runId)) this.firstEntered.set(runId, now);
    const work = await find();
    if (work !== null) this.works.set(runId, work);
  }

  /** In a step's body, before the user's. */
  enterStep(context: unknown): void {
    const body = StepBody.current();
    if (this.changes.length === 0 || body === null) return;
    const { key } = (context ?? {}) as { key?: unknown };
    if (typeof key === "string") this.stepKeys.set(body, key);
  }

  // ------------------------------------------------------------------------------------------------ effects

  /** Null where nothing is changed about it. */
  callOf({ run, place = null }: Pick<Caller, "run" | "place">, about: AskedEffect): ChangedCall | null {
    if (this.changes.length === 0 || run === null) return null;
    const change = this.changes.find(
      (each): each is EffectChange => each.kind === "effect" && isOneOf(each.calls, { title: about.title, place }),
    );
    if (change === undefined) return null;
    const body = StepBody.current();
    const owner = body ?? run;
    const name = `${place?.file ?? ""}:${place?.line ?? about.title}`;
    const counts = this.answeredCounts.get(owner) ?? new Map<string, number>();
    this.answeredCounts.set(owner, counts);
    const count = counts.get(name) ?? 0;
    const answered = () => void counts.set(name, count + 1);
    const { runId } = run;
    const stepKey = body === null ? null : (this.stepKeys.get(body) ?? null);
    const isPlain = change.step === "same" && change.by === "key";
    if (isPlain) return stepKey === null ? null : { change, key: stepKey, runId, answered };
    const work = this.works.get(runId);
    if (work === undefined) return null;
    const key = destinationKey(work, `${body?.step ?? ""} ${name}`, count);
    return { change, key, runId, answered };
  }

  /** The value kept by a step of its own; undefined where it has not run to its end. */
  recorded(call: ChangedCall | null): { readonly value: unknown } | undefined {
    if (call === null || call.change.step !== "own") return undefined;
    const name = `${call.runId} ${call.key}`;
    if (!this.recordedCalls.has(name)) return undefined;
    call.answered();
    return { value: this.recordedCalls.get(name) };
  }

  carry<T>(call: ChangedCall | null, by: Omit<Applied, "key">, apply: (by: Applied) => Carried<T>): Carried<T> {
    if (call === null) return apply({ ...by, key: null });
    if (call.change.by === "key") return apply({ ...by, key: call.key });
    const before = this.arrived.get(call.key) as Carried<T> | undefined;
    if (before !== undefined) return { ...before, isRepeat: true, isForgotten: false };
    const carried = apply({ ...by, key: null });
    this.arrived.set(call.key, carried);
    return carried;
  }

  /** The same for what is really carried out. */
  async carryLater<T>(
    call: ChangedCall | null,
    by: Omit<Applied, "key">,
    apply: (by: Applied) => Promise<Carried<T>>,
  ): Promise<Carried<T>> {
    const before = call?.change.by === "look-up" ? (this.arrived.get(call.key) as Carried<T> | undefined) : undefined;
    if (before !== undefined) return { ...before, isRepeat: true, isForgotten: false };
    const carried = await apply({ ...by, key: call?.change.by === "key" ? call.key : null });
    if (call?.change.by === "look-up") this.arrived.set(call.key, carried);
    return carried;
  }

  /** The user's code hears of it. */
  heard(call: ChangedCall | null, value: unknown): void {
    if (call === null) return;
    call.answered();
    if (call.change.step === "own") this.recordedCalls.set(`${call.runId} ${call.key}`, value);
  }

  // ------------------------------------------------------------------------------------------------ awaited

  private ownerHere(): Owner | null {
    return StepBody.current() ?? currentCaller()?.run ?? null;
  }

  /** Something that was begun here: call what it gives when it is over. */
  begin(): () => void {
    const owner = this.has("awaited") ? this.ownerHere() : null;
    if (owner === null) return () => {};
    this.begun.set(owner, (this.begun.get(owner) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (!isOver) this.begun.set(owner, this.begun.get(owner)! - 1);
      isOver = true;
    };
  }

  /** Notes whether an effect of this owner ended well. */
  noteEnd(title: string, isGood: boolean): void {
    const owner = this.has("awaited") ? this.ownerHere() : null;
    if (owner === null) return;
    const failed = this.failed.get(owner) ?? new Set<string>();
    this.failed.set(owner, failed);
    if (isGood) failed.delete(title);
    else failed.add(title);
  }

  /** After a body of the user's: waits for what it left behind, and throws where that came to nothing. */
  async awaitRest(stir: () => void): Promise<void> {
    const owner = this.has("awaited") ? this.ownerHere() : null;
    if (owner === null) return;
    for (let quiet = 0; quiet < 3; quiet++) {
      if ((this.begun.get(owner) ?? 0) > 0) quiet = -1;
      else stir();
      await realTurn();
    }
    const [title] = this.failed.get(owner) ?? [];
    if (title !== undefined) throw new Error(`idem verify: ${title} was refused, or its answer was lost`);
  }

  // ------------------------------------------------------------------------------------------------ drawn in a step

  private drawsHere(what: "clock" | "chance"): NonNullable<Caller["run"]> | null {
    if (!this.changes.some((each) => each.kind === "drawn-in-step" && each.what === what)) return null;
    const run = currentCaller()?.run ?? null;
    if (run === null || run.isOver || StepBody.current() !== null) return null;
    const place = placeHere(this.drawsHere);
    if (place !== null) this.drawn.set(`${what} ${place.file}:${place.line}:${place.column}`, { what, place });
    return run;
  }

  /** The time outside steps; null for the world's own. */
  timeHere(): number | null {
    const run = this.drawsHere("clock");
    return run === null ? null : (this.firstEntered.get(run.runId) ?? null);
  }

  chanceHere(): Chance | null {
    const run = this.drawsHere("chance");
    if (run === null) return null;
    const known = this.chances.get(run) ?? new Chance([...run.runId].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7));
    this.chances.set(run, known);
    return known;
  }
}
