// What the runs at work in this process keep in memory: recorded outcomes, values on their way into the store, and what a step under way is
// expected to bring. A bound on runs alone is none on memory: a run may have 32 MiB of outcomes, each of them once as text and once as
// what the code was given.
//
//   below half    more runs are begun, as many as fit
//   below all     runs at work go on, none is begun
//   above         the oldest goes on; the others are given back at their next step, and begun again when there is room
//
// The oldest always goes on, so one that is larger than all the room there is runs alone.
import type { LeaseInput } from "../store/leases.ts";

// A function whose values became small is trusted with more again after some fifty of them.
const forgetting = 0.95;

export class BytesInFlight {
  private total = 0;
  /** In the order in which they began. */
  private readonly shares = new Set<RunShare>();
  /** The largest value of a function's steps, lately. */
  private readonly expected = new Map<string, number>();

  constructor(
    private readonly max: number,
    /** There is room again for runs that were not begun. */
    private readonly onRoom: () => void,
  ) {}

  open(fn: string): RunShare {
    const share: RunShare = new RunShare({
      expects: () => this.expected.get(fn) ?? 0,
      learn: (bytes) => this.expected.set(fn, Math.max(bytes, (this.expected.get(fn) ?? 0) * forgetting)),
      changed: (by) => {
        const wasFull = this.isFull;
        this.total += by;
        if (wasFull && !this.isFull) this.onRoom();
      },
      mayGrow: () => this.total < this.max || this.shares.values().next().value === share,
      closed: () => this.shares.delete(share),
    });
    this.shares.add(share);
    return share;
  }

  /** Whether a run of the function may begin beside those at work. */
  hasRoomFor(fn: string): boolean {
    return this.shares.size === 0 || this.total + (this.expected.get(fn) ?? 0) <= this.max / 2;
  }

  get isFull(): boolean {
    return this.shares.size > 0 && this.total >= this.max / 2;
  }

  /** For what is leased next. */
  get room(): NonNullable<LeaseInput["room"]> {
    return { bytes: Math.max(0, this.max / 2 - this.total), atLeastOne: this.shares.size === 0 };
  }
}

interface ShareOwner {
  readonly expects: () => number;
  readonly learn: (bytes: number) => void;
  readonly changed: (by: number) => void;
  readonly mayGrow: () => boolean;
  readonly closed: () => void;
}

/** What one run keeps of it. */
export class RunShare {
  private bytes = 0;

  constructor(private readonly owner: ShareOwner) {}

  /** So many bytes of outcomes, and so many steps under way. */
  set(bytes: number, attempting: number): void {
    const now = bytes + attempting * this.owner.expects();
    this.owner.changed(now - this.bytes);
    this.bytes = now;
  }

  /** A step gave a value of so many bytes. */
  learn(bytes: number): void {
    this.owner.learn(bytes);
  }

  /** Whether the run may begin another step. */
  mayGrow(): boolean {
    return this.owner.mayGrow();
  }

  close(): void {
    this.owner.changed(-this.bytes);
    this.bytes = 0;
    this.owner.closed();
  }
}
