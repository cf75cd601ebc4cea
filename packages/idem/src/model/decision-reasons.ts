// The reasons of decisions, in the words every store uses.
import type { EndState } from "./run.ts";

export const instant = (at: number): string => new Date(at).toISOString();

/** A key whose run did not complete answers nobody well: then what to do is said as well. */
export const keyTaken = (key: string, runId: string, ended: EndState | null): string => {
  const taken = `key ${key} is taken by run ${runId}`;
  if (ended !== "failed" && ended !== "cancelled") return taken;
  const how = ended === "failed" ? "failed" : "was cancelled";
  return `${taken}, which ${how}: rerun it, or release the key so that the next event starts a new run`;
};

/** Added to the decision of an instant that two schedules have. */
export const alsoOf = (reason: string | null, cron: string, speaksFor: string): string =>
  `${reason === null ? "" : `${reason}; `}schedule "${cron}": ${speaksFor}`;

export const pausedMeanwhile = "the function was paused before the run could start";

export const notStartedReason = (fn: string, reason: string): string => `Function "${fn}" was not started: ${reason}`;
