// The ids of steps by their names. The same few names come again with every run of a function, so their hashes are kept:
// hashing cost 0.75 µs a step.
import { hashStepId } from "../model/step-id.ts";

// Names that carry data ("charge-42") would fill it without end; then it starts over.
const keptMax = 10_000;

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
