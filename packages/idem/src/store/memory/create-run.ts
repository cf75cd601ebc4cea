// A run is created together with its job, which has its id: no open run without something that makes it move.

import { nothingBeside } from "../../flow/concurrency/beside.ts";
import { laneOnceBegun, readLane } from "../../flow/lane.ts";
import type { RunFlow } from "../../flow/plan.ts";
import type { Run } from "../../model/run.ts";
import { countBegun, mayBegin } from "./lanes.ts";
import { type JobRow, type Moment, type RunJob, type RunRow, type Tables, untroubled } from "./tables.ts";

interface NewRun
  extends Pick<
      Run,
      "id" | "fn" | "eventId" | "key" | "subject" | "generation" | "previousRunId" | "rerunOf" | "rerunFrom" | "code"
    >,
    Pick<RunRow, "inputs" | "events" | "keys" | "rootRunId">,
    RunFlow {
  readonly rank: number;
  readonly dueAt: number | null;
  readonly leaseTo: string | null;
}

export function createRun(tables: Tables, at: Moment, input: NewRun): RunJob {
  const { rank, dueAt: notBefore, leaseTo, lane, startBy, cancelOn, ...run } = input;
  if (tables.runs.has(run.id)) throw new Error(`Run id ${run.id} is already used; every run needs an id of its own`);
  const dueAt = notBefore !== null && notBefore > at.now ? notBefore : null;
  const leasedBy = dueAt === null && (lane === null || mayBegin(tables, at, lane)) ? leaseTo : null;
  const inLine = lane?.name ?? null;
  tables.runs.put(run.id, {
    ...run,
    code: leasedBy === null ? null : run.code,
    lane: inLine,
    newestRunId: run.id,
    endState: null,
    result: null,
    createdAt: at.now,
    startedAt: leasedBy === null ? null : at.now,
    endedAt: null,
    endedFence: null,
  });
  const rules = cancelOn.map(({ eventName, path, value, rest, lastsMs }) => ({
    runId: run.id,
    stamp: at.stamp(),
    endsAt: lastsMs === null ? null : at.now + lastsMs,
    ...{ eventName, path, value, rest, lastsMs },
  }));
  if (rules.length > 0) tables.cancelRules.put(run.id, rules);
  if (lane !== null && leasedBy !== null) countBegun(tables, at, readLane(lane.name), lane.caps);
  const job: RunJob = {
    id: run.id,
    kind: "run",
    fn: run.fn,
    rank,
    dueAt,
    fence: leasedBy === null ? 0 : 1,
    isBornLeased: leasedBy !== null,
    leasedBy,
    ...untroubled,
    lane: leasedBy === null ? inLine : onceBegun(inLine),
    beside: nothingBeside,
    besideTurn: 0,
    startBy: leasedBy === null ? startBy : null,
  };
  tables.jobs.put(job.id, job);
  return job;
}

export const onceBegun = (lane: string | null): string | null =>
  lane === null ? null : laneOnceBegun(readLane(lane), lane);

/** The job, if it is still as it was born: leased to this worker, never handed on. */
export function bornLeased(tables: Tables, jobId: string, worker: string | null): JobRow | null {
  const job = tables.jobs.get(jobId);
  if (job === undefined || worker === null || job.leasedBy !== worker) return null;
  return job.isBornLeased && job.fence === 1 ? job : null;
}

/** The newest rerun of a run: the one that answers for it now. A run never rerun answers for itself. */
export function newestRerun(tables: Tables, runId: string): string {
  const run = tables.runs.get(runId);
  if (run === undefined) return runId;
  return tables.runs.get(run.rootRunId)?.newestRunId ?? runId;
}
