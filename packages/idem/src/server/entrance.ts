// Strangers come in a few at a time. Node hands over every request that arrived in one go, a thousand where as many lines were opened at
// once, and accepts one line in each turn of the loop: whoever waits to be accepted waits for as many turns as others stand before them. So
// requests on lines on which nobody has shown anything yet wait here for their turn, first come first served, and whoever has shown a
// credential on a line passes at once. What is much (large bodies, expressions over rows) waits until nobody is being let in.

type Soon = (run: () => void) => void;

/** Where lines are accepted. */
export class Entrance {
  readonly #soon: Soon;
  readonly #quietTurnsMax: number;
  #opened = 0;

  /**
   * `soon`: calls back once the loop has looked at everything else. `quietTurnsMax`: for so many turns at most what is much gives way; with
   * a line and two requests in each, some 10 ms.
   */
  constructor(soon: Soon, quietTurnsMax: number) {
    this.#soon = soon;
    this.#quietTurnsMax = quietTurnsMax;
  }

  /** How many lines were accepted. */
  get opened(): number {
    return this.#opened;
  }

  lineOpened(): void {
    this.#opened++;
  }

  /** Calls back after a turn in which no line was accepted, or when it has given way for long enough. */
  whenQuiet(run: () => void, turns = this.#quietTurnsMax): void {
    const opened = this.#opened;
    this.#soon(() => {
      if (this.#opened === opened || turns === 0) run();
      else this.whenQuiet(run, turns - 1);
    });
  }
}

export interface StrangerTurnsOptions {
  readonly entrance: Entrance;
  readonly soon: Soon;
  /** How many begin in one turn of the loop: at some 80 µs each, 4 ms. */
  readonly perTurn: number;
  /** The same while lines are being opened. */
  readonly perTurnWhileOpening: number;
}

export class StrangerTurns {
  readonly #waiting = new Set<() => void>();
  readonly #options: StrangerTurnsOptions;
  #begun = 0;
  #openedBefore = 0;
  #isArmed = false;

  constructor(options: StrangerTurnsOptions) {
    this.#options = options;
  }

  /** Those whose turn has not come. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Calls `begin` once: now, or in one of the next turns. */
  enter(begin: () => void): void {
    this.#arm();
    if (this.#waiting.size === 0 && this.#begun < this.#options.perTurn) {
      this.#begun++;
      begin();
    } else {
      this.#waiting.add(begin);
    }
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#options.soon(() => this.#turn());
  }

  #turn(): void {
    const { entrance, perTurn, perTurnWhileOpening } = this.#options;
    const max = entrance.opened === this.#openedBefore ? perTurn : perTurnWhileOpening;
    this.#openedBefore = entrance.opened;
    this.#isArmed = false;
    this.#begun = 0;
    for (const begin of this.#waiting) {
      if (this.#begun === max) break;
      this.#begun++;
      this.#waiting.delete(begin);
      begin();
    }
    // What began now counts for those that come before the next turn.
    if (this.#begun > 0) this.#arm();
  }
}
