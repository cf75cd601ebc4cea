// Due jobs for a worker: none held by another, none before its time, none of a function the worker lacks, none beyond a limit.
import { nothingBeside } from "../../flow/concurrency/beside.ts";
import { LeaseRoom } from "../lease-room.ts";
import type { LeaseAnswer, LeaseInput } from "../leases.ts";
import { flushDue } from "./buffers.ts";
import { onceBegun } from "./create-run.ts";
import { Effects } from "./effects.ts";
import { expireWaits } from "./end-wait.ts";
import { isLaned, type LanedJob, slotUse } from "./lanes.ts";
import { instantsPutOff, laneQueues, type Turns, takeTurns } from "./lease-lanes.ts";
import { runOf, showLeasedJob } from "./show.ts";
import { isDue, type JobRow, type Moment, type Tables } from "./tables.ts";

export function leaseJobs(tables: Tables, at: Moment, input: LeaseInput, turns: Turns): LeaseAnswer {
  const flushing = new Effects();
  const hasMoreToFlush = flushDue(tables, at, flushing);
  const functions = new Set(input.functions);
  joinLanes(tables, at, functions);
  const unleased = tables.jobs.all().filter((job) => job.leasedBy === null);
  const due = unleased.filter((job) => isDue(job, at) && (job.kind !== "run" || functions.has(job.fn)));
  const laned = due.flatMap((job) => (standsInLane(job, at) ? job : []));
  const ready = due.filter((job) => !standsInLane(job, at)).sort(byTurn);

  turns.keep(new Set(unleased.flatMap((job) => (standsInLane(job, at) ? job.lane : []))));
  const use = slotUse(tables.database);
  const queues = laneQueues(laned, input.caps);
  const share = readyShare(input.max, ready.length, laned.length, turns);
  const room = new LeaseRoom(input.room);
  const fits = (job: JobRow) => room.takes(job.kind === "run" ? bytesOf(tables, job.id) : 0);
  const fromLanes = takeTurns(tables, at, turns, use, queues, input.max - share, fits);
  const cut = ready.slice(0, input.max - fromLanes.length).findIndex((job) => !fits(job));
  const taken = [...ready.slice(0, cut === -1 ? input.max - fromLanes.length : cut), ...fromLanes];
  const jobs = taken.map((job) => lease(tables, at, job, input));

  const later = [
    ...unleased.flatMap(({ dueAt }) => dueAt ?? []),
    ...unleased.flatMap((job) =>
      standsInLane(job, at) && tables.jobs.get(job.id)?.leasedBy === null ? startByOf(job) : [],
    ),
    ...instantsPutOff(tables, at, use, queues),
    ...tables.buffers.all().map(({ dueAt }) => dueAt),
  ].filter((instant) => instant > at.now);
  const next = later.length === 0 ? null : later.reduce((a, b) => Math.min(a, b));
  const decided = flushing.decidedBeside([]);
  const flushed = decided === null ? {} : { flushed: { decided, cancelled: flushing.cancelled } };
  return {
    now: at.now,
    jobs,
    nextDueAt: hasMoreToFlush ? at.now : next,
    ...(room.isCut ? { isCut: true } : {}),
    ...flushed,
  };
}

/** A run that wakes by its time stands in line like any other: since then, and for its turn. */
function joinLanes(tables: Tables, at: Moment, functions: ReadonlySet<string>): void {
  for (const job of tables.jobs.all()) {
    if (job.leasedBy !== null || job.dueAt === null || !standsInLane(job, at) || !functions.has(job.fn)) continue;
    tables.jobs.put(job.id, { ...job, dueAt: null, rank: job.dueAt });
  }
}

const bytesOf = (tables: Tables, runId: string): number =>
  tables.stepsOf(runId).reduce((sum, { outcome }) => sum + Buffer.byteLength(outcome.json), 0);

const startByOf = ({ startBy }: LanedJob): number[] => (startBy === null ? [] : [startBy]);

/** Once it should have begun long ago it is leased like a job without a lane, so that its worker can end it. */
const standsInLane = (job: JobRow, at: Moment): job is LanedJob =>
  job.kind === "run" && isLaned(job) && isDue(job, at) && (job.startBy === null || job.startBy > at.now);

/** The share kept for jobs without a lane: at least half of it, and the odd one every other time. */
function readyShare(max: number, readyCount: number, lanedCount: number, turns: Turns): number {
  if (readyCount === 0 || lanedCount === 0) return Math.min(max, readyCount);
  if (max % 2 === 1) turns.isForLanes = !turns.isForLanes;
  const half = turns.isForLanes ? Math.floor(max / 2) : Math.ceil(max / 2);
  return Math.min(half, readyCount);
}

/** Timers first, for they have waited already; then by rank. Ids settle what is equal. */
function byTurn(a: JobRow, b: JobRow): number {
  if (a.dueAt !== null || b.dueAt !== null) {
    return (a.dueAt ?? Number.POSITIVE_INFINITY) - (b.dueAt ?? Number.POSITIVE_INFINITY) || byId(a, b);
  }
  return a.rank - b.rank || byId(a, b);
}

const byId = (a: JobRow, b: JobRow): number => (a.id < b.id ? -1 : 1);

function lease(tables: Tables, at: Moment, job: JobRow, { worker, codes }: LeaseInput) {
  const held = { leasedBy: worker, dueAt: null, fence: job.fence + 1 };
  if (job.kind !== "run") {
    const leased = { ...job, ...held };
    tables.jobs.put(job.id, leased);
    return showLeasedJob(tables, leased);
  }
  const lane = standsInLane(job, at) ? onceBegun(job.lane) : null;
  const isOverdue = job.startBy !== null && job.startBy <= at.now;
  // Its time to start stays: after a rescue it is found overdue again.
  const leased = {
    ...job,
    ...held,
    lane,
    beside: nothingBeside,
    besideTurn: 0,
    startBy: isOverdue ? job.startBy : null,
  };
  tables.jobs.put(job.id, leased);
  begin(tables, at, job.id, codes?.[job.fn] ?? null);
  const shown = showLeasedJob(tables, leased);
  return isOverdue && shown.kind === "run" ? { ...shown, isOverdue: true as const } : shown;
}

function begin(tables: Tables, at: Moment, runId: string, code: string | null): void {
  const run = runOf(tables, runId);
  if (run.startedAt === null) tables.runs.put(runId, { ...run, startedAt: at.now, code });
  expireWaits(tables, at, runId);
}
