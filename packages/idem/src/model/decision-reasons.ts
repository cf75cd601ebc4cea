// The reasons of decisions, in the words every store uses.
import { lengthText } from "./length-text.ts";
import type { EndState } from "./run.ts";

const instant = (at: number): string => new Date(at).toISOString();

/** A key whose run did not complete answers nobody well: then what to do is said as well. */
export const keyTaken = (key: string, runId: string, ended: EndState | null): string => {
  const taken = `key ${key} is taken by run ${runId}`;
  if (ended !== "failed" && ended !== "cancelled") return taken;
  const how = ended === "failed" ? "failed" : "was cancelled";
  return `${taken}, which ${how}: rerun it, or release the key so that the next event starts a new run`;
};

export const keyInBatch = (key: string, runId: string): string => `key ${key} is already in this batch (run ${runId})`;

export const rateLimited = (
  rule: { readonly id: string; readonly limit: number; readonly periodMs: number },
  freesAt: number,
): string => {
  const runs = rule.limit === 1 ? "1 run" : `${rule.limit} runs`;
  return `at most ${runs} in ${lengthText(rule.periodMs)} for ${rule.id}; frees at ${instant(freesAt)}`;
};

export const singletonTaken = (holder: string): string => `run ${holder} of the same singleton key is still open`;

/** `also`: what else its decision has to say. */
export const inBatch = (size: number, also: string | null): string =>
  also === null ? `in a batch of ${size}` : `in a batch of ${size}; ${also}`;

export const debouncedUntil = (dueAt: number): string => `a run starts at ${instant(dueAt)} unless another event comes`;

export const batchedUntil = (sizeMax: number, dueAt: number): string =>
  `one of up to ${sizeMax} for the run at ${instant(dueAt)} or before`;

export const supersededBy = (eventId: string): string => `superseded by event ${eventId}`;

export const supersededForNothing = (eventId: string, reason: string | null): string =>
  `superseded by event ${eventId}, which started no run: ${reason}`;

/** Added to the decision of an instant that two schedules have. */
export const alsoOf = (reason: string | null, cron: string, speaksFor: string): string =>
  `${reason === null ? "" : `${reason}; `}schedule "${cron}": ${speaksFor}`;

export const pausedMeanwhile = "the function was paused before the run could start";

export const notStartedReason = (fn: string, reason: string): string => `Function "${fn}" was not started: ${reason}`;
