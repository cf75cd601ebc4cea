// A step's id on the wire and in the memo: Inngest's, so that a run can be read by either side.

import { createHash } from "node:crypto";

/** The first use of an id hashes the id alone, its n-th repeat in the same run hashes `id:n`. */
export function hashStepId(userId: string, repeatIndex: number): string {
  return createHash("sha1")
    .update(repeatIndex === 0 ? userId : `${userId}:${repeatIndex}`)
    .digest("hex");
}

// Names that carry data ("charge-42") would fill it without end; then it starts over.
const keptMax = 10_000;

/** By names. The same few come again with every run of a function, so their hashes are kept: hashing cost 0.75 µs a step. */
export class StepIds {
  private kept = new Map<string, string>();

  of(name: string, repeat: number): string {
    if (repeat > 0) return hashStepId(name, repeat);
    const known = this.kept.get(name);
    if (known !== undefined) return known;
    if (this.kept.size >= keptMax) this.kept = new Map();
    const id = hashStepId(name, 0);
    this.kept.set(name, id);
    return id;
  }
}
