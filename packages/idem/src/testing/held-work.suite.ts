// Steps that stay in their middle until the test lets them go: who is at work, in which order they came, how many at once.

export class HeldWork {
  /** In the order in which they came, those that have gone included. */
  readonly entered: string[] = [];
  /** How many were ever in there at the same time. */
  most = 0;
  private readonly doors = new Map<string, (() => void)[]>();
  private count = 0;

  /** The body of a step. */
  do(name: string): Promise<string> {
    this.entered.push(name);
    this.most = Math.max(this.most, ++this.count);
    return new Promise((resolve) => {
      const door = () => {
        this.count--;
        resolve(name);
      };
      this.doors.set(name, [...(this.doors.get(name) ?? []), door]);
    });
  }

  get inside(): string[] {
    return [...this.doors].flatMap(([name, doors]) => doors.map(() => name));
  }

  letGo(...names: string[]): void {
    for (const name of names) {
      const doors = this.doors.get(name);
      if (doors === undefined) throw new Error(`nobody of the name "${name}" is at work, but ${this.inside.join()}`);
      doors.shift()!();
      if (doors.length === 0) this.doors.delete(name);
    }
  }
}
