// Strangers come in a few at a time. Node hands over every request that arrived in one go, a thousand where as many lines were opened at
// once, and accepts one line in each turn of the loop: one that waits to be accepted waits for as many turns as others stand before it. So
// requests on lines on which nobody has shown anything yet wait here for their turn, first come first served, and one with a
// credential shown on its line passes at once. Costly work (large bodies, expressions over rows) waits until nobody is being let in.

type Soon = (run: () => void) => void;

/** Where lines are accepted. */
export class Entrance {
  readonly #monoMs: () => number;
  readonly #giveWayMs: number;
  #opened = 0;

  /** `giveWayMs`: for so long at most what is much gives way. */
  constructor(monoMs: () => number, giveWayMs: number) {
    this.#monoMs = monoMs;
    this.#giveWayMs = giveWayMs;
  }

  /** Lines accepted so far. */
  get opened(): number {
    return this.#opened;
  }

  lineOpened(): void {
    this.#opened++;
  }

  /** Asked in each turn of the loop in which a piece could begin: whether none was accepted in the last one, or it has given way for long enough. */
  givingWay(): () => boolean {
    let seen = 0;
    let since: number | null = null;
    return () => {
      const isQuiet = this.#opened === seen;
      seen = this.#opened;
      const now = this.#monoMs();
      since ??= now;
      if (!isQuiet && now - since < this.#giveWayMs) return false;
      since = null;
      return true;
    };
  }
}

export interface StrangerTurnsOptions {
  readonly entrance: Entrance;
  readonly soon: Soon;
  /** Requests begun in one turn of the loop: at some 80 µs each, 4 ms. */
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
    // Those begun now count for others that come before the next turn.
    if (this.#begun > 0) this.#arm();
  }
}
