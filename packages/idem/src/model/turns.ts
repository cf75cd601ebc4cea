// Work that others ask for and that may be much, such as expressions over rows, gives the event loop back in between: after a bounded cost
// (metered-cost.ts) it waits until the loop has looked at everything else. The next piece of work goes on then, one at a time, so that many
// at once hold the loop for no longer than one.
import { costCharged, costPerMs } from "./metered-cost.ts";

// Together with one evaluation, which is not interrupted: 5 ms.
const turnCost = costPerMs;

/** In each turn of this number searches go by how long they wait. */
const turnOfTheOldest = 4;

export class Turns {
  readonly #soon: (run: () => void) => void;
  readonly #mayLook: () => boolean;
  readonly #first: (() => void)[] = [];
  readonly #later: { readonly spent: number; readonly go: () => void }[] = [];
  #from = costCharged();
  #looks = 0;
  #isArmed = false;

  /**
   * `soon`: calls back once the loop has looked at everything else. `mayLook`: asked before each turn of a search: searches give way to
   * what it knows of, events that arrive do not.
   */
  constructor(soon: (run: () => void) => void, mayLook: () => boolean = () => true) {
    this.#soon = soon;
    this.#mayLook = mayLook;
  }

  /**
   * To be awaited before each piece of work; undefined for going on at once, with no `await` in between: others would get the same answer.
   * Events that arrive go before what people look for, who can wait. Of those the one that has `spent` least goes first, so that a page is
   * not held up by filters that cost a hundred times as much; in every fourth turn the one that waits for longest, so that nobody waits for
   * ever behind newcomers.
   */
  next(spent?: number): Promise<void> | undefined {
    this.#arm();
    const isCrowded = this.#first.length > 0 || (spent !== undefined && this.#later.length > 0);
    if (!isCrowded && costCharged() - this.#from < turnCost) return undefined;
    return new Promise((go) => {
      if (spent === undefined) this.#first.push(go);
      else this.#later.push({ spent, go });
    });
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#soon(() => {
      this.#isArmed = false;
      this.#from = costCharged();
      const next = this.#first.shift() ?? (this.#later.length > 0 && this.#mayLook() ? this.#nextToLook() : undefined);
      if (this.#first.length > 0 || this.#later.length > 0) this.#arm();
      next?.();
    });
  }

  #nextToLook(): (() => void) | undefined {
    this.#looks = (this.#looks + 1) % turnOfTheOldest;
    if (this.#looks === 0) return this.#later.shift()?.go;
    let least = 0;
    for (let i = 1; i < this.#later.length; i++) if (this.#later[i]!.spent < this.#later[least]!.spent) least = i;
    return this.#later.splice(least, 1)[0]?.go;
  }
}

/** One request's work over rows: it takes turns, and ends after a cost of its own. */
export class Work {
  readonly #turns: Turns;
  readonly #costMax: number;
  readonly #isLate: () => boolean;
  #cost = 0;
  #pieces = 0;

  /** `isLate`: the asker has waited long enough; on a busy machine turns come seldom. Something is always done first, so that going on leads on. */
  constructor(turns: Turns, costMax: number, isLate: () => boolean) {
    this.#turns = turns;
    this.#costMax = costMax;
    this.#isLate = isLate;
  }

  /** No further piece should be begun: answer with what was found, and where to go on. */
  get isSpent(): boolean {
    return this.#cost >= this.#costMax || (this.#pieces > 0 && this.#isLate());
  }

  next(): Promise<void> | undefined {
    return this.#turns.next(this.#cost);
  }

  /** A piece of it, in one go. */
  do<T>(piece: () => T): T {
    const from = costCharged();
    try {
      return piece();
    } finally {
      this.#cost += costCharged() - from;
      this.#pieces++;
    }
  }
}
