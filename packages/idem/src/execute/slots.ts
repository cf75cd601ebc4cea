// So many at once and no more; the others wait in line.

/** The line in which attempts of a run wait for their turn. */
export interface StepLine {
  /** The next in line begins by the answer to the commit of the one before. */
  readonly isWaitedFor: boolean;
  /** To be followed by `leave`. */
  enter(begin: () => void): void;
  /** Of one that entered: only its outcome is still to be committed. */
  bodyIsOver(): void;
  leave(): void;
}

export class Slots implements StepLine {
  private readonly line: (() => void)[] = [];

  constructor(private free: number) {}

  get isWaitedFor(): boolean {
    return this.line.length > 0;
  }

  async within<T>(work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const hasWaited = this.free === 0;
    await new Promise<void>((entered) => this.enter(entered));
    try {
      return await work(hasWaited);
    } finally {
      this.leave();
    }
  }

  enter(begin: () => void): void {
    if (this.free === 0) this.line.push(begin);
    else {
      this.free--;
      begin();
    }
  }

  bodyIsOver(): void {}

  /** Hands the slot on, so that no newcomer slips in before the line. */
  leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
