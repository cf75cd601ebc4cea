// Words for a decision, in stories and in the rows of the pages.
import type { Decision } from "../model/decision.ts";

export interface DecisionWords {
  /** The decision for one event and one function. */
  sentence(told: ToldDecision): string;
  /** It started nothing because …; null where its own reason says so. */
  readonly whyNot: string | null;
  /** "It ‹words› ‹function›": short, for a row. */
  row(fn: string): string;
  /** A sentence's beginning, for where the function stands beside it. */
  readonly beside: string;
  /** Of an event that is kept and goes on by itself: what its function does meanwhile. */
  readonly meanwhile?: string;
  /** Of an event for which another's run answers. */
  readonly spared?: SparedWords;
}

export interface SparedWords {
  /** The run was the only one because … */
  readonly because: string;
  /** …: ‹why›, the run answered for it. */
  readonly why: string;
  /** It was left out; else it asked again, and was stopped. */
  readonly isLeftOut?: true;
}

export interface ToldDecision extends Pick<Decision, "kind" | "reason" | "runId"> {
  /** The function's. */
  readonly name: string;
  /** " run r1", or "" for none. */
  readonly run: string;
  /** " (its reason)", or "" for none. */
  readonly why: string;
}

/** Of an event that is kept with others until one run is started for them. */
export const gatheredSentence = ({ kind, runId, name, run, why }: ToldDecision): string =>
  runId === null
    ? `${name} was not started yet: ${kind}${why}.`
    : `${name} was not started for it:${run} answers for it${why}.`;
