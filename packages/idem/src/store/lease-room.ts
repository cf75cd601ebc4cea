// Bounds the answer of one lease. Due jobs are looked at in their order: the first that does not fit ends the lease, so that a large run
// waits for room and is not overtaken for ever by small ones.
import type { LeaseInput } from "./leases.ts";

export class LeaseRoom {
  /** Something was left that did not fit. */
  isCut = false;
  private bytes = 0;
  private isEmpty = true;

  constructor(private readonly room: LeaseInput["room"]) {}

  /** Whether a job whose memo has so many bytes may be taken; if so it is counted. */
  takes(bytes: number): boolean {
    if (this.room === undefined) return true;
    const isFirst = this.isEmpty && this.room.atLeastOne;
    if (this.isCut || (!isFirst && this.bytes + bytes > this.room.bytes)) {
      this.isCut = true;
      return false;
    }
    this.bytes += bytes;
    this.isEmpty = false;
    return true;
  }
}
