// Waits that end from outside. The row decides: a wait that is gone was ended by something else and stays as it was decided.
import type { Outcome } from "../../model/step.ts";
import type { WokenRun } from "../advance.ts";
import type { Audited } from "../audit.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "../waits.ts";
import { endWait } from "./end-wait.ts";
import type { Moment, Tables } from "./tables.ts";

/** Ends the deliver or announce job together with the waits, so an event is delivered by the last holder of the job, and once. */
export function resumeWaits(tables: Tables, at: Moment, input: ResumeInput): ResumeAnswer {
  const job = tables.jobs.get(input.jobId);
  if (job === undefined || job.kind === "run" || job.fence !== input.fence) return { kind: "fenced" };
  const woken: WokenRun[] = [];
  for (const { runId, stepId } of input.waits) {
    const wait = tables.waitsOf(runId).find((row) => row.stepId === stepId);
    if (wait !== undefined) woken.push(endWait(tables, at, wait, input.outcome));
  }
  tables.jobs.delete(job.id);
  return { kind: "resumed", woken };
}

export function sendSignal(
  tables: Tables,
  at: Moment,
  signal: string,
  outcome: Outcome,
  byHand?: Audited,
): SignalAnswer {
  const [wait] = tables.findWaits((row) => row.signal === signal);
  if (wait === undefined) return { kind: "nobody-waits" };
  if (byHand !== undefined)
    tables.addAudit(at, { action: "raise-signal", subject: signal, reason: `woke ${wait.runId}`, ...byHand });
  return { kind: "resumed", woken: endWait(tables, at, wait, outcome) };
}
