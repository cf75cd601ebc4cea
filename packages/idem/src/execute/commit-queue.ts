// Changes to one run go to the store one after the other, in the order they were made. If their answers could overtake each
// other, the code would see outcomes in another order than they were recorded in, and a race would have another winner on
// replay. What was made while one is on its way goes together, so two hundred parallel steps are not two hundred commits.
import type { Patch } from "./ports.ts";
import { Lines } from "./run-log.ts";

interface QueuedPatch {
  readonly patch: Patch;
  readonly done: () => void;
}

/** Somebody commits by itself; resolves once that is over. */
type Turn = () => Promise<void>;

export class CommitQueue {
  private queued: (QueuedPatch | Turn)[] = [];
  private pumping: Promise<void> | null = null;

  /** `send` takes in the answer before it resolves, and does not reject. */
  constructor(private readonly send: (patch: Patch) => Promise<void>) {}

  /** `done` is called once the patch was answered. */
  add(patch: Patch, done: () => void): void {
    this.queued.push({ patch, done });
    this.pumping ??= this.pump();
  }

  /** For what is committed by other means: resolves once nothing else is on its way, and nothing else begins until it is left. */
  turn(): Promise<() => void> {
    return new Promise((entered) => {
      this.queued.push(() => new Promise<void>((leave) => entered(leave)));
      this.pumping ??= this.pump();
    });
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.pumping !== null) await this.pumping;
  }

  private async pump(): Promise<void> {
    while (this.queued.length > 0) {
      const [first] = this.queued;
      if (typeof first === "function") {
        this.queued.shift();
        await first();
        continue;
      }
      const batch = this.nextBatch();
      await this.send(merge(batch.map(({ patch }) => patch)));
      for (const { done } of batch) done();
    }
    this.pumping = null;
  }

  private nextBatch(): QueuedPatch[] {
    const turn = this.queued.findIndex((each) => typeof each === "function");
    const next = this.queued.slice(0, turn === -1 ? this.queued.length : turn) as QueuedPatch[];
    // New waits are committed before events that may wake them: inside one commit the events would come first.
    const hasWaits = next.findIndex(({ patch }) => (patch.waits?.length ?? 0) > 0);
    const end = next.findIndex(({ patch }, i) => i > hasWaits && (patch.sends?.length ?? 0) > 0);
    const batch = next.slice(0, hasWaits === -1 || end === -1 ? next.length : end);
    this.queued.splice(0, batch.length);
    return batch;
  }
}

function linesOf(patches: readonly Patch[]): Pick<Patch, "lines"> {
  if (patches.every(({ lines }) => lines === undefined)) return {};
  const all = new Lines();
  for (const { lines } of patches) if (lines !== undefined) all.join(lines);
  return { lines: all };
}

function merge(patches: readonly Patch[]): Patch {
  if (patches.length === 1) return patches[0]!;
  return {
    steps: patches.flatMap((patch) => patch.steps ?? []),
    attempts: patches.flatMap((patch) => patch.attempts ?? []),
    waits: patches.flatMap((patch) => patch.waits ?? []),
    sends: patches.flatMap((patch) => patch.sends ?? []),
    ...linesOf(patches),
    next: { kind: "continue", collect: patches.some(({ next }) => next.kind === "continue" && next.collect) },
  };
}
