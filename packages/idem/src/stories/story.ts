// The story of one thing: a verdict with its because, the four places where a duplicate can be stopped, one sentence per fact, and at most
// three things to do. Things that have a page are named in `nouns` as they stand in the sentences. Every asker gets the same story:
// `idem.explain`, `idem explain`, /api/explain and the page.
import type { RunState } from "../model/run.ts";

export const subjectKinds = ["run", "event", "key", "entity"] as const;
export type SubjectKind = (typeof subjectKinds)[number];

export const nounKinds = ["run", "event", "function", "key", "alert", "source"] as const;

export interface StoryNoun {
  /** As it stands in the sentences. */
  readonly text: string;
  readonly kind: (typeof nounKinds)[number];
  readonly id: string;
  /** Of a key: what it is unique within. */
  readonly scope: string | null;
}

export const gateNames = ["webhook", "event-id", "function-key", "destination-key"] as const;
/** `let-through`: a duplicate passed it · `nothing-to-stop`: it is in use and no duplicate came · `not-known`: nothing says what it did. */
export const gateStates = ["let-through", "stopped", "not-in-use", "nothing-to-stop", "not-known"] as const;

export interface StoryGate {
  readonly gate: (typeof gateNames)[number];
  readonly state: (typeof gateStates)[number];
  readonly reason: string;
}

export const factKinds = [
  "event",
  "first",
  "slipped",
  "suppressed",
  "rerun",
  "completed",
  "failed",
  "waiting",
  "running",
  "queued",
  "cancelled",
  "alert",
  "note",
] as const;

export interface StoryFact {
  /** Null for what is so now; the facts after it are still ahead. */
  readonly at: number | null;
  readonly kind: (typeof factKinds)[number];
  readonly text: string;
  /** Of a fact that was repeated: when it happened last. */
  readonly untilAt: number | null;
}

export const deeds = [
  "cancel-run",
  "add-key",
  "send-key",
  "open-run",
  "open-event",
  "open-key",
  "open-function",
  "compare",
] as const;

export interface StoryTodo {
  readonly text: string;
  readonly does: (typeof deeds)[number];
  /** On its button. */
  readonly label: string;
  /** Of the run, event, key or function it is about. */
  readonly id: string;
  /** The other run, or the line to paste. */
  readonly other: string | null;
}

export interface StoryThing {
  readonly kind: "run" | "event";
  readonly id: string;
  readonly name: string;
  /** Of a run. */
  readonly state: RunState | null;
  /** Its part in the story. */
  readonly words: string;
}

export const tones = ["doubled", "suppressed", "once", "failed", "waiting", "nothing"] as const;

export interface Story {
  readonly kind: "story";
  /** The subject: "key of draft-invoice". */
  readonly about: string;
  readonly subject: StorySubject;
  readonly function: string | null;
  readonly tone: (typeof tones)[number];
  /** Runs, reruns left out. */
  readonly times: number;
  readonly title: string;
  readonly detail: string;
  readonly gates: readonly StoryGate[];
  readonly facts: readonly StoryFact[];
  readonly todo: readonly StoryTodo[];
  readonly things: readonly StoryThing[];
  readonly nouns: readonly StoryNoun[];
}

/** The subject of a story, as it is asked for. */
export interface StorySubject {
  readonly as: SubjectKind;
  readonly id: string;
  /** Of a key or a value in the data. */
  readonly function: string | null;
}

export interface StoryHit extends StorySubject {
  readonly words: string;
}

export type StoryAnswer =
  | Story
  | { readonly kind: "several"; readonly sentence: string; readonly hits: readonly StoryHit[] }
  | { readonly kind: "none"; readonly sentence: string; readonly examples: readonly StoryHit[] };
