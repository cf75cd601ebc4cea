// So many at once and no more; the others wait in line.

export class Slots {
  private readonly line: (() => void)[] = [];

  constructor(private free: number) {}

  get isWaitedFor(): boolean {
    return this.line.length > 0;
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    // Whoever leaves hands its slot on, so nobody can slip in before the line.
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.line.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.line.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
