// Things by the time they are due; those due together in the order they were added.

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly item: T;
}

const isBefore = (a: Entry<unknown>, b: Entry<unknown>): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class DueHeap<T> {
  private readonly entries: Entry<T>[] = [];
  private added = 0;

  /** When the first of them is due; null when there is none. */
  get nextAt(): number | null {
    return this.entries[0]?.at ?? null;
  }

  clear(): void {
    this.entries.length = 0;
  }

  add(at: number, item: T): void {
    const { entries } = this;
    entries.push({ at, order: this.added++, item });
    let i = entries.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (isBefore(entries[parent]!, entries[i]!)) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  /** Takes out everything that is due by now. */
  takeDue(now: number): T[] {
    const due: T[] = [];
    while (this.entries.length > 0 && this.entries[0]!.at <= now) due.push(this.takeFirst()!);
    return due;
  }

  removeWhere(fits: (item: T) => boolean): void {
    const kept = this.entries.filter(({ item }) => !fits(item));
    if (kept.length === this.entries.length) return;
    this.entries.length = 0;
    for (const { at, item } of kept) this.add(at, item);
  }

  takeFirst(): T | null {
    const { entries } = this;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined) return null;
    if (entries.length > 0) {
      entries[0] = last;
      this.sink();
    }
    return first.item;
  }

  private sink(): void {
    const { entries } = this;
    let i = 0;
    for (;;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < entries.length && isBefore(entries[child]!, entries[least]!)) least = child;
      }
      if (least === i) return;
      this.swap(i, least);
      i = least;
    }
  }

  private swap(a: number, b: number): void {
    const { entries } = this;
    [entries[a], entries[b]] = [entries[b]!, entries[a]!];
  }
}
