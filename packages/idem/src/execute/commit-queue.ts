// Changes to one run go to the store one after the other, in the order they were made. If their answers could overtake each
// other, the code would see outcomes in another order than they were recorded in, and a race would have another winner on
// replay. Changes made while one is on its way go together, so two hundred parallel steps are not two hundred commits.
import type { Patch } from "./ports.ts";
import { Lines } from "./run-log.ts";

/** Waits for a commit. */
export interface Committed {
  /** It was answered, and its answer was taken in. */
  committed(): void;
}

interface QueuedPatch {
  readonly patch: Patch;
  readonly by: Committed;
}

/** Brings patches to the store, and calls `answered` once their answer was taken in, whatever became of them. */
export interface Commits {
  commitTogether(patch: Patch): void;
  /** Called for each patch before its `Committed`. */
  isCommitted(): void;
}

/** For a commit by other means, which calls `over` at its end. */
type Turn = (over: () => void) => void;

export class CommitQueue {
  private queued: (QueuedPatch | Turn)[] = noneQueued;
  /** The patches on their way; null for none. */
  private under: readonly QueuedPatch[] | null = null;

  constructor(private readonly of: Commits) {}

  add(patch: Patch, by: Committed): void {
    // Alone, as the commits of steps one after the other are.
    if (this.under === null) {
      this.under = [{ patch, by }];
      this.of.commitTogether(patch);
    } else this.line({ patch, by });
  }

  /** For a commit by other means: resolves once nothing else is on its way, and nothing else begins until it is left. */
  turn(): Promise<() => void> {
    return new Promise((entered) => {
      this.line(entered);
      if (this.under === null) this.next();
    });
  }

  private line(last: QueuedPatch | Turn): void {
    if (this.queued.length === 0) this.queued = [last];
    else this.queued.push(last);
  }

  private next(): void {
    const [first] = this.queued;
    if (first === undefined) {
      this.under = null;
      return;
    }
    if (typeof first === "function") {
      this.queued.shift();
      this.under = noPatches;
      first(() => this.answered());
      return;
    }
    this.under = this.nextBatch();
    this.of.commitTogether(this.under.length === 1 ? first.patch : merge(this.under.map(({ patch }) => patch)));
  }

  /** The patches on their way were answered. */
  answered(): void {
    for (const { by } of this.under!) {
      this.of.isCommitted();
      by.committed();
    }
    this.next();
  }

  private nextBatch(): readonly QueuedPatch[] {
    const { queued } = this;
    if (queued.length === 1) {
      this.queued = noneQueued;
      return queued as QueuedPatch[];
    }
    const turn = queued.findIndex((each) => typeof each === "function");
    const next = queued.slice(0, turn === -1 ? queued.length : turn) as QueuedPatch[];
    // New waits are committed before events that may wake them: inside one commit the events would come first.
    const hasWaits = next.findIndex(({ patch }) => (patch.waits?.length ?? 0) > 0);
    const end = next.findIndex(({ patch }, i) => i > hasWaits && (patch.sends?.length ?? 0) > 0);
    const batch = next.slice(0, hasWaits === -1 || end === -1 ? next.length : end);
    queued.splice(0, batch.length);
    return batch;
  }
}

const noPatches: readonly never[] = [];
// Never pushed to: where there is none, the first makes a list.
const noneQueued: never[] = [];

function linesOf(patches: readonly Patch[]): Pick<Patch, "lines"> {
  if (patches.every(({ lines }) => lines === undefined)) return {};
  const all = new Lines();
  for (const { lines } of patches) if (lines !== undefined) all.join(lines);
  return { lines: all };
}

function merge(patches: readonly Patch[]): Patch {
  return {
    steps: patches.flatMap((patch) => patch.steps ?? []),
    attempts: patches.flatMap((patch) => patch.attempts ?? []),
    waits: patches.flatMap((patch) => patch.waits ?? []),
    sends: patches.flatMap((patch) => patch.sends ?? []),
    ...linesOf(patches),
    next: { kind: "continue", collect: patches.some(({ next }) => next.kind === "continue" && next.collect) },
  };
}
