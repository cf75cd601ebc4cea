// So many at once and no more; the others wait in line.

/** Where attempts of a run wait for their turn. */
export interface StepLine {
  /** Whoever is next begins by the answer to the commit of the one before. */
  readonly isWaitedFor: boolean;
  /** Whoever entered leaves. */
  enter(begin: () => void): void;
  /** Of one that entered: what is left is to commit what came of it. */
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

  /** Whoever leaves hands its slot on, so nobody can slip in before the line. */
  leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
