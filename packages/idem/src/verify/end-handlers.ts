// Handlers of failures and cancellations: entered only where a run ends so, and what goes wrong with them in turn.
import type { Reference } from "./judge.ts";
import { type Adversity, inHandler, isInVain, nameOf, type Schedule, scheduleOf } from "./schedules.ts";
import type { Thing, WorldRecord } from "./thing.ts";

/** Things that handlers make where nothing goes wrong with them, and their effects in that world. */
interface Handled {
  readonly things: readonly Thing[];
  readonly effects: readonly number[];
}

/** Bad ends of a run, at the first of its effects. */
const runEnds: readonly Adversity[] = [
  { kind: "refused", effect: 1, status: 500, isAlways: true },
  { kind: "cancel", effect: 1 },
];

export class EndHandlers {
  private readonly handled = new Map<string, Promise<Handled | null>>();

  constructor(
    /** Full names of the functions that handle the end of others. */
    private readonly names: readonly string[],
    private readonly play: (schedule: Schedule) => Promise<WorldRecord | null>,
  ) {}

  /** Of one way to end after the other. */
  async *schedules(): AsyncGenerator<Schedule[]> {
    for (const end of this.names.length === 0 ? [] : runEnds) {
      const handled = await this.handledAt(end);
      if (handled !== null) yield [...inHandler(end, handled.effects)];
    }
  }

  /** With what they make, where the schedule ends the run and something else goes wrong. */
  async referenceFor(schedule: Schedule, reference: Reference): Promise<Reference> {
    const { adversities } = schedule;
    if (this.names.length === 0 || adversities.length < 2 || isInVain(schedule)) return reference;
    const end = runEnds.find((each) => adversities.some((other) => nameOf(other) === nameOf(each)));
    const handled = end === undefined ? null : await this.handledAt(end);
    return handled === null ? reference : { ...reference, handled: handled.things };
  }

  private handledAt(end: Adversity): Promise<Handled | null> {
    const name = nameOf(end);
    const known = this.handled.get(name) ?? this.playEnd(end);
    this.handled.set(name, known);
    return known;
  }

  private async playEnd(end: Adversity): Promise<Handled | null> {
    const record = await this.play(scheduleOf(end));
    if (record === null) return null;
    const isHandlers = (fn: string | null): boolean => fn !== null && this.names.includes(fn);
    return {
      things: record.things.filter(({ by }) => isHandlers(by)),
      effects: record.effects.flatMap(({ fn, index }) => (isHandlers(fn) ? [index] : [])),
    };
  }
}
