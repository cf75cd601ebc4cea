// The decision for one event and one function, in a sentence.
import type { Decision } from "../model/decision.ts";

export function decisionSentence({ kind, reason, runId }: Decision, name: string): string {
  const why = reason === null ? "" : ` (${reason})`;
  const run = runId === null ? "" : ` run ${runId}`;
  switch (kind) {
    case "started":
      return `${name} started${run}${why}.`;
    case "duplicate-event":
    case "duplicate-key":
      return `${name} did not start again:${run === "" ? " nothing" : run} answers for it${why}.`;
    case "debounced":
    case "batched":
      return runId === null
        ? `${name} was not started yet: ${kind}${why}.`
        : `${name} was not started for it:${run} answers for it${why}.`;
    case "rate-limited":
      return `${name} was not started: its rate limit was used up${why}.`;
    case "singleton-skipped":
      return `${name} was not started:${run} had its singleton key${why}.`;
    case "paused":
    case "held":
      return `${name} was not started: ${kind}, until a person releases or drops it${why}.`;
    // Their reasons are sentences already.
    case "dropped":
    case "missed":
      return `${name} was not started: ${reason ?? kind}.`;
    case "filtered":
      return `${name} was not started: filtered${why}.`;
  }
}
