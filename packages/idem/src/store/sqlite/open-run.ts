// A run and its job are born together, in the transaction that decided to start it. "Born leased" saves a lease of its own:
// the process that accepted the event already has the slot to execute it (docs/reference/stores.md#born-leased).

import type { LaneUse } from "../../flow/lane.ts";
import { laneOnceBegun } from "../../flow/lane.ts";
import { openState } from "../../model/run.ts";
import type { LeasedJob } from "../leases.ts";
import { keepRules } from "../rules/cancel-rules.ts";
import { admitted } from "../rules/limit-starts.ts";
import { keptInputs, type NewJob, type NewRun, type OpenedRun } from "../rules/new-run.ts";
import { readMemo } from "../rules/read-memo.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Transaction } from "./transaction.ts";

const insertRunSql = `
  insert into runs (env, id, fn, event_id, key, subject, generation, previous_run_id, rerun_of, root_run_id, created_at,
                    started_at, holds_key, rerun_from, inputs, singleton, carried, code, window_ends_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const insertJobSql = `
  insert into jobs (env, id, kind, run_id, event_id, fn, rank, due_at, fence, leased_by, lane, start_by, had_waits,
                    born_leased)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const insertCarriedSql = "insert into run_events (env, run_id, n, event_id, key) values (?, ?, ?, ?, ?)";

export function openRun(tx: Transaction, env: string, run: NewRun): OpenedRun {
  const { now } = tx.at;
  const dueAt = run.dueAt !== null && run.dueAt > now ? run.dueAt : null;
  const begins = dueAt === null && run.leaseTo !== null && (run.lane === null || mayBegin(tx, env, run.lane));
  const leasedBy = begins ? run.leaseTo : null;
  const startedAt = leasedBy === null ? null : now;
  const code = leasedBy === null ? null : run.code;
  tx.connection.run(
    insertRunSql,
    env,
    run.id,
    run.fn,
    run.eventId,
    run.key,
    run.subject,
    run.generation,
    run.previousRunId,
    run.rerunOf,
    run.rootRunId,
    now,
    startedAt,
    run.holdsKey ? 1 : 0,
    run.rerunFrom === null ? null : JSON.stringify(run.rerunFrom),
    keptInputs(run),
    run.singleton,
    run.carried?.length ?? null,
    code,
    run.windowEndsAt ?? null,
  );
  run.carried?.forEach(({ eventId, key }, n) => {
    tx.connection.run(insertCarriedSql, env, run.id, n, eventId, key);
  });
  keepRules(tx, env, run.id, run.cancelOn);
  const fence = leasedBy === null ? 0 : 1;
  insertJob(tx, env, {
    id: run.id,
    kind: "run",
    runId: run.id,
    eventId: null,
    fn: run.fn,
    rank: run.rank,
    dueAt,
    fence,
    leasedBy,
    lane:
      run.lane === null ? null : begins ? laneOnceBegun(tx.lanes.nameOf(run.lane.name), run.lane.name) : run.lane.name,
    startBy: begins ? null : run.startBy,
    // Its end must look for what cancels it.
    hadWaits: run.cancelOn.length > 0,
  });
  return {
    run: {
      id: run.id,
      fn: run.fn,
      eventId: run.eventId,
      key: run.key,
      subject: run.subject,
      generation: run.generation,
      previousRunId: run.previousRunId,
      rerunOf: run.rerunOf,
      rerunFrom: run.rerunFrom,
      code,
      state: openState({ leasedBy, dueAt, parkedAt: null }),
      result: null,
      createdAt: now,
      startedAt,
      endedAt: null,
      dueAt,
      parked: null,
      lost: null,
    },
    fence: leasedBy === null ? null : fence,
  };
}

export function insertJob(tx: Transaction, env: string, job: NewJob): void {
  tx.connection.run(
    insertJobSql,
    env,
    job.id,
    job.kind,
    job.runId,
    job.eventId,
    job.fn,
    job.rank,
    job.dueAt,
    job.fence,
    job.leasedBy,
    job.lane,
    job.startBy,
    job.hadWaits ? 1 : 0,
    job.leasedBy === null ? 0 : 1,
  );
  if (job.lane === null) return;
  if (job.leasedBy !== null) tx.lanes.take(job.lane);
  else if (job.dueAt === null) tx.lanes.join(env, job.lane);
}

/** Whether a run of this lane begins at once; it is counted then. */
function mayBegin(tx: Transaction, env: string, { name, caps }: LaneUse): boolean {
  const lane = tx.lanes.nameOf(name);
  tx.lanes.noteCaps(env, lane.fn, caps);
  return tx.lanes.hasRoom(env, name, caps) && driveAtOnce(admitted(tx, env, lane, caps, tx.at.now)) === null;
}

const bornLeasedSql = "select 1 from jobs where env = ? and id = ? and leased_by = ? and fence = 1 and born_leased = 1";

/** Whether the job is still as it was born: leased to this worker, never handed on. */
export function isBornLeased(tx: Transaction, env: string, jobId: string, worker: string | null): boolean {
  return worker !== null && tx.connection.one(bornLeasedSql, env, jobId, worker) !== undefined;
}

/** What the worker a run was born leased to must execute; null when it was not, or is no longer. */
export function bornLeased(tx: Transaction, env: string, runId: string, worker: string | null): LeasedJob | null {
  if (!isBornLeased(tx, env, runId, worker)) return null;
  return { kind: "run", jobId: runId, fence: 1, lostWorkers: 0, memo: driveAtOnce(readMemo(tx, env, runId))! };
}
