// The rows as a caller sees them: a run with the state its job gives it, a memo, a leased job.
import type { Event } from "../../model/event.ts";
import { dataInput, openState, type Run } from "../../model/run.ts";
import type { Step } from "../../model/step.ts";
import type { Wait } from "../../model/wait.ts";
import type { LeasedJob, RunMemo } from "../leases.ts";
import type { EventRow, JobRow, RunRow, StepRow, Tables, WaitRow } from "./tables.ts";

export function showRun(tables: Tables, row: RunRow): Run {
  const job = tables.jobs.get(row.id);
  return {
    id: row.id,
    fn: row.fn,
    eventId: row.eventId,
    key: row.key,
    subject: row.subject,
    generation: row.generation,
    previousRunId: row.previousRunId,
    rerunOf: row.rerunOf,
    rerunFrom: row.rerunFrom,
    code: row.code,
    // An open run without a job is a defect that the sweep repairs; it waits until then.
    state: row.endState ?? (job === undefined ? "waiting" : openState({ ...job, parkedAt: job.parked?.at ?? null })),
    result: row.result,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    dueAt: job?.dueAt ?? null,
    parked: job?.parked ?? null,
    lost: job?.lost ?? null,
  };
}

export function showEvent(row: EventRow): Event {
  const { stamp: _, ...shown } = row;
  return shown;
}

function showWait(row: WaitRow): Wait {
  return {
    runId: row.runId,
    stepId: row.stepId,
    name: row.name,
    kind: row.kind,
    stepKind: row.stepKind,
    timeoutAt: row.timeoutAt,
    eventName: row.eventName,
    rest: row.rest,
    signal: row.signal,
    childRunId: row.childRunId,
    startedAt: row.startedAt,
  };
}

/** As a memo has it. */
export function showStep({ input: _, childRunId: __, ...step }: StepRow): Step {
  return step;
}

export function showMemo(tables: Tables, row: RunRow): RunMemo {
  const { [dataInput]: data, ...inputs } = row.inputs;
  const show = (id: string) => ({ ...showEvent(eventOf(tables, id)), ...(data === undefined ? {} : { data }) });
  return {
    run: showRun(tables, row),
    ...(data === undefined ? {} : { hasOtherData: true as const }),
    event: show(row.eventId),
    events: row.events.map(show),
    steps: tables.stepsOf(row.id).map(showStep),
    attempts: (tables.attempts.get(row.id) ?? []).map(({ input: _, ...attempt }) => attempt),
    waits: tables.waitsOf(row.id).map(showWait),
    inputs,
  };
}

export function showLeasedJob(tables: Tables, job: JobRow): LeasedJob {
  if (job.kind === "deliver") {
    return {
      kind: "deliver",
      jobId: job.id,
      fence: job.fence,
      event: showEvent(eventOf(tables, job.eventId)),
    };
  }
  if (job.kind === "announce") {
    const memo = showMemo(tables, runOf(tables, job.runId));
    return { kind: "announce", jobId: job.id, fence: job.fence, memo };
  }
  return {
    kind: "run",
    jobId: job.id,
    fence: job.fence,
    lostWorkers: job.lost?.count ?? 0,
    ...(job.enterAt === null ? {} : { enterAt: job.enterAt }),
    ...(job.released === null ? {} : { released: job.released }),
    memo: showMemo(tables, runOf(tables, job.id)),
  };
}

export function runOf(tables: Tables, runId: string): RunRow {
  const run = tables.runs.get(runId);
  if (run === undefined) throw new Error(`The store has no run ${runId}, though another row names it`);
  return run;
}

export function eventOf(tables: Tables, eventId: string): EventRow {
  const event = tables.events.get(eventId);
  if (event === undefined) throw new Error(`The store has no event ${eventId}, though another row names it`);
  return event;
}
