// The decision on one event for one function, in words. Those of an option stand in its folder.
import { batchedWords } from "../flow/batch/words.ts";
import { debouncedWords } from "../flow/debounce/words.ts";
import type { DecisionWords, SparedWords, ToldDecision } from "../flow/decision-words.ts";
import { rateLimitedWords } from "../flow/rate-limit/words.ts";
import { skippedWords } from "../flow/singleton/words.ts";
import type { Decision, DecisionKind } from "../model/decision.ts";

const answeredSentence = ({ name, run, why }: ToldDecision): string =>
  `${name} did not start again:${run === "" ? " nothing" : run} answers for it${why}.`;
const keptSentence = ({ name, kind, why }: ToldDecision): string =>
  `${name} was not started: ${kind}, until a person releases or drops it${why}.`;
/** Its reason is a sentence already. */
const reasonSentence = ({ name, kind, reason }: ToldDecision): string => `${name} was not started: ${reason ?? kind}.`;

const keyTaken = "its key was taken";

/** Of several kinds of events for which one run answers, the first here says why. */
export const decisionWords: Readonly<Record<DecisionKind, DecisionWords>> = {
  started: {
    sentence: ({ name, run, why }) => `${name} started${run}${why}.`,
    whyNot: null,
    row: (fn) => `started ${fn}`,
    beside: "started a run",
  },
  "duplicate-event": {
    sentence: answeredSentence,
    whyNot: "its id was taken",
    row: (fn) => `duplicate event for ${fn}`,
    beside: "duplicate, its id came before",
  },
  "duplicate-key": {
    sentence: answeredSentence,
    whyNot: keyTaken,
    row: (fn) => `duplicate key of ${fn}`,
    beside: "duplicate, its key is taken",
    spared: { because: keyTaken, why: keyTaken },
  },
  filtered: {
    sentence: ({ name, why }) => `${name} was not started: filtered${why}.`,
    whyNot: null,
    row: (fn) => `filtered by ${fn}`,
    beside: "filtered, nothing ran",
  },
  "singleton-skipped": skippedWords,
  debounced: debouncedWords,
  batched: batchedWords,
  "rate-limited": rateLimitedWords,
  paused: {
    sentence: keptSentence,
    whyNot: "the function was paused",
    row: (fn) => `${fn} is paused`,
    beside: "waits, the function is paused",
  },
  held: {
    sentence: keptSentence,
    whyNot: "its key was missing, and the function holds such events",
    row: (fn) => `held: its key for ${fn} is missing`,
    beside: "held, its key is missing",
  },
  dropped: {
    sentence: reasonSentence,
    whyNot: "a person dropped it",
    row: (fn) => `dropped for ${fn}`,
    beside: "dropped by a person",
  },
  missed: {
    sentence: reasonSentence,
    whyNot: "its tick was found too late",
    row: (fn) => `missed by ${fn}`,
    beside: "missed, nobody was there",
  },
};

export function decisionSentence({ kind, reason, runId }: Decision, name: string): string {
  const why = reason === null ? "" : ` (${reason})`;
  const run = runId === null ? "" : ` run ${runId}`;
  return decisionWords[kind].sentence({ kind, reason, runId, name, run, why });
}

/** Of events for which one run answers: why, by the kind that says most; null where none says. */
export function sparedBy(kinds: ReadonlySet<DecisionKind>): SparedWords | null {
  for (const [kind, { spared }] of Object.entries(decisionWords)) {
    if (spared !== undefined && kinds.has(kind as DecisionKind)) return spared;
  }
  return null;
}
