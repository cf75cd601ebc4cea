// The memory of the runs at work in this process: recorded outcomes, values on their way into the store, and what a step under way is
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
    const share = new RunShare(this, fn);
    this.shares.add(share);
    return share;
  }

  /** Of a value that a step of the function is expected to bring. */
  expects(fn: string): number {
    return this.expected.get(fn) ?? 0;
  }

  learn(fn: string, bytes: number): void {
    this.expected.set(fn, Math.max(bytes, this.expects(fn) * forgetting));
  }

  changed(by: number): void {
    const wasFull = this.isFull;
    this.total += by;
    if (wasFull && !this.isFull) this.onRoom();
  }

  mayGrow(share: RunShare): boolean {
    return this.total < this.max || this.shares.values().next().value === share;
  }

  closed(share: RunShare): void {
    this.shares.delete(share);
  }

  /** Whether a run of the function may begin beside those at work. */
  hasRoomFor(fn: string): boolean {
    return this.shares.size === 0 || this.total + this.expects(fn) <= this.max / 2;
  }

  get isFull(): boolean {
    return this.shares.size > 0 && this.total >= this.max / 2;
  }

  /** For what is leased next. */
  get room(): NonNullable<LeaseInput["room"]> {
    return { bytes: Math.max(0, this.max / 2 - this.total), atLeastOne: this.shares.size === 0 };
  }
}

/** The share of one run. */
export class RunShare {
  private bytes = 0;
  private isClosed = false;

  constructor(
    private readonly of: BytesInFlight,
    private readonly fn: string,
  ) {}

  /** So many bytes of outcomes, and so many steps under way. A step of a run that was given up may come to its end later. */
  set(bytes: number, attempting: number): void {
    if (this.isClosed) return;
    const now = attempting === 0 ? bytes : bytes + attempting * this.of.expects(this.fn);
    this.of.changed(now - this.bytes);
    this.bytes = now;
  }

  /** A step gave a value of so many bytes. */
  learn(bytes: number): void {
    this.of.learn(this.fn, bytes);
  }

  /** Whether the run may begin another step. */
  mayGrow(): boolean {
    return this.of.mayGrow(this);
  }

  close(): void {
    this.set(0, 0);
    this.isClosed = true;
    this.of.closed(this);
  }
}
