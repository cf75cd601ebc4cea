// One loop for the whole world: what happens next is the earliest event, ties broken by the seed, so a seed is a history.
// After each event every promise it set off runs to rest before the next one is taken.
import type { Random } from "./random.ts";

/** The owner of an event: silent once dead, late while frozen. */
export interface Owner {
  readonly alive: boolean;
  readonly frozenUntil: number;
}

interface Entry {
  time: number;
  readonly tie: number;
  readonly order: number;
  readonly owner: Owner | null;
  run: (() => void) | null;
}

// A tick comes once no promise is left to run, and costs a tenth of a world less than an immediate. The engine makes no ticks of its own.
const atRest = () => new Promise<void>((resolve) => process.nextTick(resolve));

export class EventLoop {
  now = 0;
  handled = 0;
  private readonly heap: Entry[] = [];
  private order = 0;

  constructor(private readonly random: Random) {}

  /** `owner` null is the world outside all processes: networks, disks and people. */
  schedule(delayMs: number, run: () => void, owner: Owner | null = null): { cancel(): void } {
    const entry: Entry = {
      time: this.now + Math.max(0, delayMs),
      tie: this.random.uint32(),
      order: this.order++,
      owner,
      run,
    };
    this.push(entry);
    return {
      cancel: () => {
        entry.run = null;
      },
    };
  }

  /** Time passes in the world. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule(ms, resolve));
  }

  async runUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const entry = this.pop();
      if (entry === null) throw new Error("the world stands still: nothing is left to happen");
      const { run, owner } = entry;
      if (run === null || owner?.alive === false) continue;
      if (owner !== null && owner.frozenUntil > entry.time) {
        entry.time = owner.frozenUntil;
        this.push(entry);
        continue;
      }
      this.now = entry.time;
      this.handled++;
      run();
      await atRest();
    }
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = entry;
  }

  private pop(): Entry | null {
    const { heap } = this;
    const first = heap[0];
    if (first === undefined) return null;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.time !== b.time ? a.time < b.time : a.tie !== b.tie ? a.tie < b.tie : a.order < b.order;
