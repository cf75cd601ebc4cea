// The parts of a lease that are the same on both databases: the row of a job, the answer to its worker, and when to ask next. Jobs are
// found and taken differently: one by one from the owner's picture of its file, or in sets under locks.
import type { ParkedKind } from "../../model/run.ts";
import type { LeasedJob, RunMemo } from "../leases.ts";
import { type EventRow, readEvent } from "../rows.ts";
import type { RuleTransaction } from "./database.ts";
import { nextFlushAt } from "./flush-buffer.ts";
import type { Rule } from "./rule.ts";

/** A job as a lease finds it: its columns as they were before it was taken. */
export interface FoundJob {
  readonly id: string;
  readonly kind: "run" | "deliver" | "announce";
  readonly run_id: string | null;
  readonly fn: string | null;
  readonly event_id: string | null;
  readonly fence: number;
  readonly lost_workers: number;
  readonly enter_at: number | null;
  readonly parked_kind: ParkedKind | null;
  readonly parked_reason: string | null;
  readonly lane: string | null;
  readonly due_at: number | null;
  /** Of its memo. */
  readonly bytes: number;
}

/** The columns of it that are read alike. */
export const foundColumns =
  "id, kind, run_id, fn, event_id, fence, lost_workers, enter_at, parked_kind, parked_reason, lane, due_at";

export const toDeliver = ({ id, fence }: FoundJob, event: EventRow): LeasedJob => ({
  kind: "deliver",
  jobId: id,
  fence: fence + 1,
  event: readEvent(event),
});

/** A run's job; `isOverdue`: it was leased past its lane, only to be ended. */
export function toExecute(job: FoundJob, memo: RunMemo, isOverdue: boolean): LeasedJob {
  const jobId = job.id;
  const fence = job.fence + 1;
  if (job.kind === "announce") return { kind: "announce", jobId, fence, memo };
  const leased: LeasedRun = { kind: "run", jobId, fence, lostWorkers: job.lost_workers, memo };
  if (isOverdue) leased.isOverdue = true;
  if (job.enter_at !== null) leased.enterAt = job.enter_at;
  // Kind and reason stay when a person lets it go on.
  if (job.parked_kind !== null && memo.run.parked === null) {
    leased.released = { kind: job.parked_kind, reason: job.parked_reason! };
  }
  return leased;
}

type LeasedRun = { -readonly [K in keyof Extract<LeasedJob, { kind: "run" }>]: Extract<LeasedJob, { kind: "run" }>[K] };

/** When the earliest timer is due, or a start, a buffer, or what a throttle put off. */
export function* nextDueAt(tx: RuleTransaction, env: string, putOffUntil: number | null): Rule<number | null> {
  const { now } = tx.at;
  const [timer, overdue, flush] = yield* tx.together<
    [{ due_at: number | null } | undefined, { start_by: number | null } | undefined, number | null]
  >(
    tx.one<{ due_at: number | null }>(tx.sql.leases.nextTimer, env, now),
    tx.one<{ start_by: number | null }>(tx.sql.leases.nextOverdue, env, now),
    nextFlushAt(tx, env),
  );
  const times = [timer?.due_at, overdue?.start_by, flush, putOffUntil].filter((time): time is number => time != null);
  return times.length === 0 ? null : Math.min(...times);
}
