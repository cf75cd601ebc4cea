// Things in order of the instant they are for: the next one is at hand, and putting one in or taking it out costs its depth.

export class InstantHeap<Item extends { readonly nextAt: number }> {
  private readonly items: Item[] = [];

  get first(): Item | null {
    return this.items[0] ?? null;
  }

  clear(): void {
    this.items.length = 0;
  }

  push(item: Item): void {
    const { items } = this;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (items[above]!.nextAt <= item.nextAt) break;
      items[at] = items[above]!;
      at = above;
    }
    items[at] = item;
  }

  takeFirst(): Item | null {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first ?? null;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && items[below + 1]!.nextAt < items[below]!.nextAt) below++;
      if (items[below]!.nextAt >= last.nextAt) break;
      items[at] = items[below]!;
      at = below;
    }
    items[at] = last;
    return first;
  }
}
