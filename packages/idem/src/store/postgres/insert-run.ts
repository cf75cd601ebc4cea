// The rows of a run and of a job; the slots of the job's lane stand in columns that they are counted by.
import { insertion } from "../rules/insertion.ts";
import { jobColumns, jobValues, type NewJob, type NewRun, runColumns, runValues } from "../rules/new-run.ts";
import { slotColumns } from "./lane-slots.ts";
import type { Transaction } from "./transaction.ts";

const newRuns = insertion("runs", runColumns);
const newJobs = insertion("jobs", { ...jobColumns, slot_1: "text", slot_2: "text" });

export function insertRun(tx: Transaction, env: string, run: NewRun, begins: boolean): void {
  tx.connection.insert(newRuns, ...runValues(env, run, begins, tx.at.now));
}

export function insertJob(tx: Transaction, env: string, job: NewJob): void {
  if (job.leasedBy === null && job.dueAt === null) tx.floors.queued(env, job.rank);
  tx.connection.insert(newJobs, ...jobValues(env, job), ...slotColumns(job.lane));
}
