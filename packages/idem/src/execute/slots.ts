// So many at once and no more; the others wait in line.

export class Slots {
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

  /** Whoever entered leaves. */
  enter(begin: () => void): void {
    if (this.free === 0) this.line.push(begin);
    else {
      this.free--;
      begin();
    }
  }

  /** Whoever leaves hands its slot on, so nobody can slip in before the line. */
  leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
