// A run and its job are born together, in the transaction that decided to start it. "Born leased" saves a lease of its own:
// the process that accepted the event already has the slot to execute it (docs/reference/stores.md#born-leased).

import type { LaneUse } from "../../flow/lane.ts";
import { laneOnceBegun, readLane } from "../../flow/lane.ts";
import { openState } from "../../model/run.ts";
import type { LeasedJob } from "../leases.ts";
import { keepRules } from "../rules/cancel-rules.ts";
import { insertion } from "../rules/insertion.ts";
import { admitted } from "../rules/limit-starts.ts";
import { keptInputs, type NewJob, type NewRun, type OpenedRun } from "../rules/new-run.ts";
import { readMemo } from "../rules/read-memo.ts";
import { driveAwaited } from "../rules/rule.ts";
import { hasRoom, slotColumns } from "./lane-slots.ts";
import type { Transaction } from "./transaction.ts";

const newRuns = insertion("runs", {
  env: "text",
  id: "text",
  fn: "text",
  event_id: "text",
  key: "text",
  subject: "text",
  generation: "text",
  previous_run_id: "text",
  rerun_of: "text",
  root_run_id: "text",
  created_at: "bigint",
  started_at: "bigint",
  holds_key: "int",
  rerun_from: "text",
  inputs: "text",
  singleton: "text",
  carried: "int",
  code: "text",
});

const newJobs = insertion("jobs", {
  env: "text",
  id: "text",
  kind: "text",
  run_id: "text",
  event_id: "text",
  fn: "text",
  rank: "bigint",
  due_at: "bigint",
  fence: "bigint",
  leased_by: "text",
  lane: "text",
  start_by: "bigint",
  had_waits: "int",
  born_leased: "int",
  slot_1: "text",
  slot_2: "text",
});

const insertCarriedSql = "insert into run_events (env, run_id, n, event_id, key) values (?, ?, ?, ?, ?)";

export async function openRun(tx: Transaction, env: string, run: NewRun): Promise<OpenedRun> {
  const { now } = tx.at;
  const dueAt = run.dueAt !== null && run.dueAt > now ? run.dueAt : null;
  const begins = dueAt === null && run.leaseTo !== null && (run.lane === null || (await mayBegin(tx, env, run.lane)));
  const leasedBy = begins ? run.leaseTo : null;
  const startedAt = leasedBy === null ? null : now;
  const code = leasedBy === null ? null : run.code;
  tx.connection.insert(
    newRuns,
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
  );
  run.carried?.forEach(({ eventId, key }, n) => {
    tx.connection.write(insertCarriedSql, env, run.id, n, eventId, key);
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
    lane: run.lane === null ? null : begins ? laneOnceBegun(readLane(run.lane.name), run.lane.name) : run.lane.name,
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
  const [slot1, slot2] = slotColumns(job.lane);
  if (job.leasedBy === null && job.dueAt === null) tx.floors.queued(env, job.rank);
  tx.connection.insert(
    newJobs,
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
    slot1,
    slot2,
  );
}

/** Whether a run of this lane begins at once; it is counted then. */
async function mayBegin(tx: Transaction, env: string, { name, caps }: LaneUse): Promise<boolean> {
  const lane = readLane(name);
  return (
    (await hasRoom(tx, env, name, caps)) && (await driveAwaited(admitted(tx, env, lane, caps, tx.at.now))) === null
  );
}

const bornLeasedSql = `
  select 1 from jobs where env = ? and id = ? and coalesce(leased_by, '') = ? and fence = 1 and born_leased = 1`;

/** Whether the job is still as it was born: leased to this worker, never handed on. */
export async function isBornLeased(
  tx: Transaction,
  env: string,
  jobId: string,
  worker: string | null,
): Promise<boolean> {
  return worker !== null && (await tx.connection.one(bornLeasedSql, env, jobId, worker)) !== undefined;
}

/** What the worker a run was born leased to must execute; null when it was not, or is no longer. */
export async function bornLeased(
  tx: Transaction,
  env: string,
  runId: string,
  worker: string | null,
): Promise<LeasedJob | null> {
  if (!(await isBornLeased(tx, env, runId, worker))) return null;
  const memo = (await driveAwaited(readMemo(tx, env, runId)))!;
  // A rerun brings steps along.
  tx.sawStamp(memo.steps.at(-1)?.stamp ?? 0);
  return { kind: "run", jobId: runId, fence: 1, lostWorkers: 0, memo };
}
