// Chance from a seed and what it is for: the same words give the same numbers, in every process.

export class Chance {
  private state: number;

  constructor(...words: readonly (string | number)[]) {
    // FNV-1a over the words, then mixed, so that neighbouring seeds do not resemble each other.
    let hash = 0x811c9dc5;
    for (const char of words.join(" ")) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
    this.state = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  }

  /** In [0, 1); mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** Gaps between events that know nothing of each other. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}
