// What was decided for one event and one function, in a sentence.
import { type Decision, isPending } from "../model/decision.ts";
import type { PendingBuffer } from "./outlook.ts";

export interface ToTell extends Decision {
  readonly differs: readonly string[];
}

export function decisionSentence(decision: ToTell, name: string, buffer: PendingBuffer | null): string {
  const reason = decision.reason === null ? "" : ` (${decision.reason})`;
  const run = decision.runId === null ? "" : ` run ${decision.runId}`;
  switch (decision.kind) {
    case "started":
      return `"${name}" started${run}${reason}.`;
    case "duplicate-event":
    case "duplicate-key":
      return `"${name}" did not start again:${run === "" ? " nothing" : run} answers for it${reason}${differs(decision)}.`;
    case "debounced":
      return isPending(decision)
        ? debounceSentence(decision, name, buffer)
        : `"${name}" was not started for it:${run} answers for it${reason}.`;
    case "batched":
      return batchSentence(decision, name, buffer);
    case "rate-limited":
      return `"${name}" was not started: its rate limit is used up${reason}.`;
    case "singleton-skipped":
      return `"${name}" was not started:${run} has its singleton key${reason}.`;
    case "paused":
    case "held":
      return `"${name}" was not started: ${decision.kind}, until a person releases or drops it${reason}.`;
    // Their reasons are sentences already.
    case "dropped":
    case "missed":
      return `"${name}" was not started: ${decision.reason ?? decision.kind}.`;
    case "filtered":
      return `"${name}" was not started: filtered${reason}.`;
  }
}

export const differs = (decision: Pick<ToTell, "differs">): string =>
  decision.differs.length === 0 ? "" : `, although ${decision.differs.join(", ")} differed`;

function debounceSentence({ eventId, reason }: ToTell, name: string, buffer: PendingBuffer | null): string {
  if (buffer === null) return `"${name}" is not started yet: debounced (${reason}).`;
  const { count, startsAt, newestEventId } = buffer;
  const when = `starts at ${instant(startsAt)} unless another event comes; ${count} ${count === 1 ? "event" : "events"} so far`;
  return eventId === newestEventId
    ? `"${name}" is not started yet: debounced, its run ${when}.`
    : `"${name}" will not be started for it: debounced, superseded by event ${newestEventId}, whose run ${when}.`;
}

function batchSentence({ reason }: ToTell, name: string, buffer: PendingBuffer | null): string {
  if (buffer === null) return `"${name}" is not started yet: batched (${reason}).`;
  const { count, max, startsAt } = buffer;
  return `"${name}" is not started yet: batched, ${count} of ${max} are in; its run starts at ${instant(startsAt)} at the latest.`;
}

export const instant = (ms: number): string => new Date(ms).toISOString();
