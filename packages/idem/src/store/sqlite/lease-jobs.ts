// Due jobs go to a worker: timers whose time has come first, then the ready queue by rank.
// Promise: never before the due time, never a function the worker lacks, fence + 1 with every change of hands.
import type { LeaseAnswer, LeasedJob, LeaseInput } from "../store.ts";
import { expireWaits } from "./end-wait.ts";
import { findEvent, readMemo } from "./read-memo.ts";
import { readEvent } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

interface JobRow {
  id: string;
  kind: "run" | "deliver";
  run_id: string | null;
  event_id: string | null;
  fence: number;
  lost_workers: number;
}

// json_each keeps one statement text for any list of functions; the partial indexes give the order.
const selectTimersSql = `
  select id, kind, run_id, event_id, fence, lost_workers
    from jobs indexed by jobs_timers
   where env = ? and leased_by is null and due_at is not null and due_at <= ?
     and (fn is null or fn in (select value from json_each(?)))
   order by due_at limit ?`;

const selectReadySql = `
  select id, kind, run_id, event_id, fence, lost_workers
    from jobs indexed by jobs_ready
   where env = ? and leased_by is null and due_at is null
     and (fn is null or fn in (select value from json_each(?)))
   order by rank limit ?`;

const takeJobSql = "update jobs set leased_by = ?, fence = fence + 1, due_at = null where env = ? and id = ?";
const startRunSql = "update runs set started_at = ? where env = ? and id = ? and started_at is null";
const nextDueSql = `
  select min(due_at) as due_at from jobs indexed by jobs_timers
   where env = ? and leased_by is null and due_at is not null and due_at > ?`;

export function leaseJobs(tx: Transaction, input: LeaseInput): LeaseAnswer {
  const { env, worker, max } = input;
  const { now } = tx.at;
  const functions = JSON.stringify(input.functions);
  const rows = tx.connection.all<JobRow>(selectTimersSql, env, now, functions, max);
  if (rows.length < max) rows.push(...tx.connection.all<JobRow>(selectReadySql, env, functions, max - rows.length));
  const jobs: LeasedJob[] = [];
  for (const row of rows) {
    tx.connection.run(takeJobSql, worker, env, row.id);
    const fence = row.fence + 1;
    if (row.kind === "deliver") {
      const event = findEvent(tx.connection, env, row.event_id!);
      if (event !== undefined) jobs.push({ kind: "deliver", jobId: row.id, fence, event: readEvent(event) });
      continue;
    }
    tx.connection.run(startRunSql, now, env, row.run_id);
    expireWaits(tx, env, row.run_id!);
    const memo = readMemo(tx.connection, env, row.run_id!);
    if (memo !== null) jobs.push({ kind: "run", jobId: row.id, fence, lostWorkers: row.lost_workers, memo });
  }
  const nextDueAt = tx.connection.one<{ due_at: number | null }>(nextDueSql, env, now)?.due_at ?? null;
  return { now, jobs, nextDueAt };
}
