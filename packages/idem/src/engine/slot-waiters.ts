// Runs at work in this process whose steps wait for slots beside their own. Runs in line go first: these are asked once a lease has been answered.

// Each asks the store: of hundreds that wait for one slot, a few.
const askedMax = 4;

export class SlotWaiters {
  /** The one that waits for longest is first. */
  private readonly waiting = new Set<() => void>();
  private wereFreed = false;
  private turns = 0;

  /** Greater than any before, also of an earlier pass of the same run. */
  nextTurn(): number {
    return ++this.turns;
  }

  /** Returns how to wait no longer. */
  add(run: () => void): () => void {
    this.waiting.add(run);
    return () => this.waiting.delete(run);
  }

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  freed(): void {
    this.wereFreed = true;
  }

  /** Behind a lease: whatever it left of freed slots is theirs. */
  askAgain(): void {
    if (!this.wereFreed) return;
    this.wereFreed = false;
    for (const run of [...this.waiting].slice(0, askedMax)) run();
  }
}
