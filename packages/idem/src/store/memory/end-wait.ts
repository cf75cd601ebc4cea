// Every wait ends at most once. The first to delete its row has ended it: an event, a signal, another run's end, or its timeout.
import type { Outcome } from "../../model/step.ts";
import type { WokenRun } from "../advance.ts";
import { recordStep } from "./record-step.ts";
import { runOf } from "./show.ts";
import type { Moment, Tables, WaitRow } from "./tables.ts";

export function replaceWait(tables: Tables, wait: WaitRow, by: WaitRow | null): void {
  const left = tables.waitsOf(wait.runId).flatMap((other) => (other.stepId !== wait.stepId ? other : (by ?? [])));
  if (left.length === 0) tables.waits.delete(wait.runId);
  else tables.waits.put(wait.runId, left);
}

function recordEnd(tables: Tables, at: Moment, wait: WaitRow, outcome: Outcome): void {
  replaceWait(tables, wait, null);
  const step = {
    stepId: wait.stepId,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.stepKind,
    outcome,
    attempt: 1,
    startedAt: wait.startedAt,
    endedAt: at.now,
    input: wait.input,
    childRunId: wait.childRunId,
  };
  recordStep(tables, at, wait.runId, step, null);
}

/** Ends a wait from outside: its run is due now, or its holder is asked to collect. */
export function endWait(tables: Tables, at: Moment, wait: WaitRow, outcome: Outcome): WokenRun {
  recordEnd(tables, at, wait, outcome);
  const job = tables.jobs.get(wait.runId);
  const isWoken = job !== undefined && job.leasedBy === null && job.parked === null;
  if (isWoken) tables.jobs.put(job.id, { ...job, dueAt: null, rank: at.now });
  return { runId: wait.runId, fn: runOf(tables, wait.runId).fn, leasedBy: job?.leasedBy ?? null };
}

/** Ends what is over by now, the earliest first: on replay that is the order in which the timeouts happened. */
export function expireWaits(tables: Tables, at: Moment, runId: string): void {
  const over = tables.waitsOf(runId).filter(({ timeoutAt }) => timeoutAt !== null && timeoutAt <= at.now);
  over.sort((a, b) => a.timeoutAt! - b.timeoutAt! || a.stamp - b.stamp);
  for (const wait of over) recordEnd(tables, at, wait, wait.onTimeout);
}
