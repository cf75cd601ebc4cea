// A run and its job are born together, in the transaction that decided to start it. "Born leased" saves a lease of its own:
// the process that accepted the event already has the slot to execute it (docs/reference/stores.md#born-leased).

import { type LaneUse, laneOnceBegun } from "../../flow/lane.ts";
import { openState } from "../../model/run.ts";
import type { LeasedJob } from "../leases.ts";
import { keepRules } from "./cancel-rules.ts";
import type { RuleTransaction } from "./database.ts";
import { admitted } from "./limit-starts.ts";
import type { NewRun, OpenedRun } from "./new-run.ts";
import { readMemo } from "./read-memo.ts";
import { type Asked, Given, type Rule } from "./rule.ts";

const insertCarriedSql = "insert into run_events (env, run_id, n, event_id, key) values (?, ?, ?, ?, ?)";

export function openRun(tx: RuleTransaction, env: string, run: NewRun): Asked<OpenedRun> {
  const mayBegin = run.leaseTo !== null && (run.dueAt === null || run.dueAt <= tx.at.now);
  // Most runs take no slots, and nothing has to be asked for them.
  if (mayBegin && run.lane !== null) return openInLane(tx, env, run, run.lane);
  return new Given(writeRun(tx, env, run, mayBegin));
}

/** Begins the run at once where there is room, and counts it. */
function* openInLane(tx: RuleTransaction, env: string, run: NewRun, lane: LaneUse): Rule<OpenedRun> {
  const { name, caps } = lane;
  const begins =
    (yield* tx.hasRoom(env, lane)) && (yield* admitted(tx, env, tx.laneNamed(name), caps, tx.at.now)) === null;
  return writeRun(tx, env, run, begins);
}

function writeRun(tx: RuleTransaction, env: string, run: NewRun, begins: boolean): OpenedRun {
  const { now } = tx.at;
  const dueAt = run.dueAt !== null && run.dueAt > now ? run.dueAt : null;
  const leasedBy = begins ? run.leaseTo : null;
  tx.addRun(env, run, begins);
  run.carried?.forEach(({ eventId, key }, n) => {
    tx.write(insertCarriedSql, env, run.id, n, eventId, key);
  });
  keepRules(tx, env, run.id, run.cancelOn);
  tx.addJob(env, {
    id: run.id,
    kind: "run",
    runId: run.id,
    eventId: null,
    fn: run.fn,
    rank: run.rank,
    dueAt,
    fence: begins ? 1 : 0,
    leasedBy,
    lane: run.lane === null ? null : begins ? laneOnceBegun(tx.laneNamed(run.lane.name), run.lane.name) : run.lane.name,
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
      code: begins ? run.code : null,
      state: openState({ leasedBy, dueAt, parkedAt: null }),
      result: null,
      createdAt: now,
      startedAt: begins ? now : null,
      endedAt: null,
      dueAt,
      parked: null,
      lost: null,
    },
    fence: begins ? 1 : null,
  };
}

/** Whether the job is still as it was born: leased to this worker, never handed on. */
export function* isBornLeased(tx: RuleTransaction, env: string, jobId: string, worker: string | null): Rule<boolean> {
  return worker !== null && (yield* tx.one(tx.sql.jobs.bornLeased, env, jobId, worker)) !== undefined;
}

/** The job of a run that was born leased to this worker, who must execute it; null when it was not, or is no longer. */
export function* bornLeased(
  tx: RuleTransaction,
  env: string,
  runId: string,
  worker: string | null,
): Rule<LeasedJob | null> {
  if (!(yield* isBornLeased(tx, env, runId, worker))) return null;
  const memo = (yield* readMemo(tx, env, runId))!;
  // A rerun brings steps along.
  tx.sawStamp(memo.steps.at(-1)?.stamp ?? 0);
  return { kind: "run", jobId: runId, fence: 1, lostWorkers: 0, memo };
}
