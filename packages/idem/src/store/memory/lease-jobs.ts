// Due jobs for a worker: none held by another, none before its time, none of a function the worker lacks.
import type { LeaseAnswer, LeaseInput } from "../store.ts";
import { expireWaits } from "./end-wait.ts";
import { runOf, showLeasedJob } from "./show.ts";
import type { JobRow, Moment, Tables } from "./tables.ts";

export function leaseJobs(tables: Tables, at: Moment, input: LeaseInput): LeaseAnswer {
  const functions = new Set(input.functions);
  const unleased = tables.jobs.all().filter((job) => job.leasedBy === null);
  const due = unleased.filter((job) => isDue(job, at) && (job.kind === "deliver" || functions.has(job.fn)));
  const jobs = due
    .sort(byTurn)
    .slice(0, input.max)
    .map((job) => {
      const leased = { ...job, leasedBy: input.worker, dueAt: null, fence: job.fence + 1 };
      tables.jobs.put(job.id, leased);
      if (job.kind === "run") begin(tables, at, job.id);
      return showLeasedJob(tables, leased);
    });
  const later = unleased.flatMap(({ dueAt }) => (dueAt !== null && dueAt > at.now ? dueAt : []));
  return { now: at.now, jobs, nextDueAt: later.length === 0 ? null : later.reduce((a, b) => Math.min(a, b)) };
}

export const isDue = (job: JobRow, at: Moment): boolean => job.dueAt === null || job.dueAt <= at.now;

/** Timers first, for they have waited already; then by rank. Ids settle what is equal. */
function byTurn(a: JobRow, b: JobRow): number {
  if (a.dueAt !== null || b.dueAt !== null) {
    return (a.dueAt ?? Number.POSITIVE_INFINITY) - (b.dueAt ?? Number.POSITIVE_INFINITY) || byId(a, b);
  }
  return a.rank - b.rank || byId(a, b);
}

const byId = (a: JobRow, b: JobRow): number => (a.id < b.id ? -1 : 1);

function begin(tables: Tables, at: Moment, runId: string): void {
  const run = runOf(tables, runId);
  if (run.startedAt === null) tables.runs.put(runId, { ...run, startedAt: at.now });
  expireWaits(tables, at, runId);
}
