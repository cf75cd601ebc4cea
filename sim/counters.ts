// "Sometimes" counters: proof that the interesting moments were reached. A simulator that never gets there proves nothing.

export class Counters {
  readonly counts: Record<string, number> = {};

  add(name: string, count = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + count;
  }

  merge(other: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(other)) this.add(name, count);
  }
}
