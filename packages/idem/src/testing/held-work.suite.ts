// Steps that stay in their middle until the test lets them go: who is at work, in which order they came, how many at once.

export class HeldWork {
  /** In the order in which they came, those that have gone included. */
  readonly entered: string[] = [];
  /** The most that were ever in there at the same time. */
  most = 0;
  private readonly exits = new Map<string, (() => void)[]>();
  private count = 0;

  /** The body of a step. */
  do(name: string): Promise<string> {
    this.entered.push(name);
    this.most = Math.max(this.most, ++this.count);
    return new Promise((resolve) => {
      const exit = () => {
        this.count--;
        resolve(name);
      };
      this.exits.set(name, [...(this.exits.get(name) ?? []), exit]);
    });
  }

  get inside(): string[] {
    return [...this.exits].flatMap(([name, exits]) => exits.map(() => name));
  }

  letGo(...names: string[]): void {
    for (const name of names) {
      const exits = this.exits.get(name);
      if (exits === undefined) throw new Error(`nobody of the name "${name}" is at work, but ${this.inside.join()}`);
      exits.shift()!();
      if (exits.length === 0) this.exits.delete(name);
    }
  }
}
