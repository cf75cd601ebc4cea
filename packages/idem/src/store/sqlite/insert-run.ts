// The rows of a run and of a job, and what the file's owner remembers of the job's lane.
import { insertion } from "../rules/insertion.ts";
import { jobColumns, jobValues, type NewJob, type NewRun, runColumns, runValues } from "../rules/new-run.ts";
import type { Transaction } from "./transaction.ts";

// The run tells when the window of its key ends: no decision is kept for that (docs/decisions/0055).
const insertRunSql = insertion("runs", { ...runColumns, window_ends_at: "bigint" }).one;
const insertJobSql = insertion("jobs", jobColumns).one;

export function insertRun(tx: Transaction, env: string, run: NewRun, begins: boolean): void {
  tx.connection.run(insertRunSql, ...runValues(env, run, begins, tx.at.now), run.windowEndsAt ?? null);
}

export function insertJob(tx: Transaction, env: string, job: NewJob): void {
  tx.connection.run(insertJobSql, ...jobValues(env, job));
  if (job.lane === null) return;
  if (job.leasedBy !== null) tx.lanes.take(job.lane);
  else if (job.dueAt === null) tx.lanes.join(env, job.lane);
}
