// Changes to one run go to the store one after the other, in the order they were made. If their answers could overtake each
// other, the code would see outcomes in another order than they were recorded in, and a race would have another winner on
// replay. What was made while one is on its way goes together, so two hundred parallel steps are not two hundred commits.
import type { Patch } from "./ports.ts";

export class CommitQueue {
  private queued: { readonly patch: Patch; readonly done: () => void }[] = [];
  private pumping: Promise<void> | null = null;

  /** `send` takes in the answer before it resolves, and does not reject. */
  constructor(private readonly send: (patch: Patch) => Promise<void>) {}

  /** Resolves once the patch was answered. */
  add(patch: Patch): Promise<void> {
    return new Promise((done) => {
      this.queued.push({ patch, done });
      this.pumping ??= this.pump();
    });
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.pumping !== null) await this.pumping;
  }

  private async pump(): Promise<void> {
    while (this.queued.length > 0) {
      const batch = this.nextBatch();
      await this.send(merge(batch.map(({ patch }) => patch)));
      for (const { done } of batch) done();
    }
    this.pumping = null;
  }

  private nextBatch() {
    // New waits are committed before events that may wake them: inside one commit the events would come first.
    const hasWaits = this.queued.findIndex(({ patch }) => (patch.waits?.length ?? 0) > 0);
    const end = this.queued.findIndex(({ patch }, i) => i > hasWaits && (patch.sends?.length ?? 0) > 0);
    return this.queued.splice(0, hasWaits === -1 || end === -1 ? this.queued.length : end);
  }
}

function merge(patches: readonly Patch[]): Patch {
  if (patches.length === 1) return patches[0]!;
  return {
    steps: patches.flatMap((patch) => patch.steps ?? []),
    attempts: patches.flatMap((patch) => patch.attempts ?? []),
    waits: patches.flatMap((patch) => patch.waits ?? []),
    sends: patches.flatMap((patch) => patch.sends ?? []),
    next: { kind: "continue", collect: patches.some(({ next }) => next.kind === "continue" && next.collect) },
  };
}
