// Compares two stores, table by table: the number of rows, and a hash over all of them. It does not depend on their order, for
// the two databases sort texts differently; each row counts by the hash of the same text on both sides.
import { createHash } from "node:crypto";
import type { Row } from "./moved-tables.ts";

const modulus = 1n << 256n;

export class TableHash {
  count = 0;
  /** Of the longest row, as text: how many fit into memory at once. */
  longestChars = 0;
  private sum = 0n;

  add(row: Row): void {
    const canonical = JSON.stringify(row);
    const digest = createHash("sha256").update(canonical).digest("hex");
    this.sum = (this.sum + BigInt(`0x${digest}`)) % modulus;
    this.count++;
    if (canonical.length > this.longestChars) this.longestChars = canonical.length;
  }

  get text(): string {
    return this.sum.toString(16).padStart(64, "0");
  }

  isSame(other: TableHash): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}
