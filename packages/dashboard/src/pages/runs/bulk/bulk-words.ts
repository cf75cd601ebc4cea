// Bulk work in words: before, while it goes on, and after.
import type { Answer, Body } from "../../../api/client.ts";

export type BulkAction = Body<"POST /api/bulk">["action"];
export type BulkItem = Answer<"GET /api/bulk/:bulk">["bulk"];

export const runsWords = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "run" : "runs"}`;

interface ActionWords {
  /** On the button that opens it. */
  readonly button: string;
  readonly title: (runs: string) => string;
  readonly under: (runs: string) => string;
  /** "116 will run again" */
  readonly will: (count: number) => string;
  readonly did: string;
  readonly act: (runs: string) => string;
  readonly command: string;
}

export const actionWords: Readonly<Record<BulkAction, ActionWords>> = {
  rerun: {
    button: "Rerun…",
    title: (runs) => `Rerun ${runs}?`,
    under: (runs) => `Rerunning ${runs}`,
    will: () => "will run again",
    did: "started",
    act: (runs) => `Rerun ${runs}`,
    command: "idem rerun --where … --dry-run",
  },
  cancel: {
    button: "Cancel runs…",
    title: (runs) => `Cancel ${runs}?`,
    under: (runs) => `Cancelling ${runs}`,
    will: () => "will be cancelled",
    did: "cancelled",
    act: (runs) => `Cancel ${runs}`,
    command: "idem cancel --where … --dry-run",
  },
  release: {
    button: "Let go on…",
    title: (runs) => `Let ${runs} go on?`,
    under: (runs) => `Letting ${runs} go on`,
    will: (count) => (count === 1 ? "is parked and will go on" : "are parked and will go on"),
    did: "released",
    act: (runs) => `Let ${runs} go on`,
    command: "idem release --where … --dry-run",
  },
  "release-keys": {
    button: "Release keys…",
    title: (runs) => `Release the keys of ${runs}?`,
    under: (runs) => `Releasing the keys of ${runs}`,
    will: (count) => (count === 1 ? "key will be given back" : "keys will be given back"),
    did: "given back",
    act: (runs) => `Release the keys of ${runs}`,
    command: "idem release --keys --where … --dry-run",
  },
};

/** The fate of keys; each a sentence or two. */
export const keyWords: Readonly<Record<BulkAction, readonly string[]>> = {
  rerun: [
    "The function key of each run stays held by its first run. A rerun goes past it; a new event for the same key still starts nothing.",
    "Destination keys stay the same: a destination that still remembers them gives back what it made the first time.",
  ],
  cancel: [
    "Steps that are at work may end; no new attempt begins. Keys stay held, unless a function gives them back after a failure.",
  ],
  release: [
    "Each goes on where it was, with the same keys. How often it was entered without an outcome is counted from the start.",
  ],
  "release-keys": [
    "The next event for the same key starts a run. Its destination keys stay the same inside the window.",
  ],
};

export const isUnderWay = ({ state }: Pick<BulkItem, "state">): boolean => state === "running";
