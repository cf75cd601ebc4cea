// One decision per event and function. A pending one is decided again, and waits for it learn the answer.
import { type Decision, isAnswered, isPending, notStartedReason } from "../../model/decision.ts";
import type { Outcome } from "../../model/step.ts";
import { serializeError } from "../../model/user-errors.ts";
import { standInFor } from "../../model/wait.ts";
import { newestRerun } from "./create-run.ts";
import type { Effects } from "./effects.ts";
import { endOutcome } from "./end-run.ts";
import { endWait, replaceWait } from "./end-wait.ts";
import { runOf } from "./show.ts";
import type { Moment, Tables } from "./tables.ts";

export function recordDecision(tables: Tables, at: Moment, effects: Effects, decision: Decision): void {
  const { eventId, fn } = decision;
  const others = (tables.decisions.get(eventId) ?? []).filter((other) => other.fn !== fn);
  const sorted = [...others, decision].sort((a, b) => (a.fn < b.fn ? -1 : 1));
  tables.decisions.put(eventId, sorted);
  if (!isPending(decision)) tellWaiting(tables, at, effects, decision);
}

/** The run whose end answers for the event. A run that merely stood in the way does not. */
export function answeringRun(tables: Tables, decision: Pick<Decision, "kind" | "runId">): string | null {
  return isAnswered(decision) ? newestRerun(tables, decision.runId) : null;
}

function tellWaiting(tables: Tables, at: Moment, effects: Effects, decision: Decision): void {
  const id = standInFor(decision.eventId, decision.fn);
  for (const wait of tables.findWaits((row) => row.childRunId === id)) {
    const runId = answeringRun(tables, decision);
    const outcome = runId === null ? notStarted(decision) : endOutcome(runOf(tables, runId));
    if (outcome === null) replaceWait(tables, wait, { ...wait, childRunId: runId });
    else if (endWait(tables, at, wait, outcome).leasedBy === null) effects.hasWoken = true;
  }
}

/** The outcome of an invoking step where no run answers for it. */
export function notStarted({ fn, kind, reason }: Decision): Outcome {
  const message = notStartedReason(fn, reason ?? kind);
  return { kind: "error", json: serializeError({ name: "Error", message }) };
}
