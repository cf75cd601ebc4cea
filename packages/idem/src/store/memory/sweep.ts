// One bounded pass of housekeeping. Rescue is what makes lost workers harmless; repair should never find anything; reaping
// is never correctness: a claim whose window is over behaves as if it were absent.
import { nothingBeside } from "../../flow/concurrency/beside.ts";
import { isOpen } from "../../model/window.ts";
import { minuteMs, minutesKeptMs } from "../ends.ts";
import type { SweepAnswer } from "../leases.ts";
import { onceBegun } from "./create-run.ts";
import { reapMessages } from "./publish-messages.ts";
import { type Database, type Moment, never, type Tables, untroubled } from "./tables.ts";
import { takenBack } from "./workers.ts";

export function sweep(
  database: Database,
  at: Moment,
  { max, repair }: { readonly max: number; readonly repair: boolean },
): SweepAnswer {
  declareLost(database, at);
  const rescued = rescue(database, at, max);
  const repaired = repair ? database.allEnvironments().map((tables) => repairRuns(tables, at)) : [];
  for (const tables of database.allEnvironments()) {
    forgetMinutes(tables, at);
    reapMessages(tables, at, max);
  }
  return {
    rescued,
    repaired: repaired.reduce((sum, { count }) => sum + count, 0),
    reaped: reap(database, at, max),
    isCounted: true,
    queued: rescued > 0 || repaired.some(({ queued }) => queued),
  };
}

function forgetMinutes(tables: Tables, { now }: Moment): void {
  for (const [id, { step, at }] of tables.endCounts.entries()) {
    if (step === minuteMs && at < now - minutesKeptMs) tables.endCounts.delete(id);
  }
}

function declareLost(database: Database, at: Moment): void {
  for (const [id, worker] of database.workers.entries()) {
    if (!worker.dead && worker.until < at.leaseNow) database.workers.put(id, { ...worker, dead: true });
  }
}

/** The worker's row stays, so a pass that was too short is continued by the next one. */
function rescue(database: Database, at: Moment, max: number): number {
  let count = 0;
  for (const tables of database.allEnvironments()) {
    for (const job of tables.jobs.all()) {
      if (count === max) return count;
      if (job.leasedBy === null || database.workers.get(job.leasedBy)?.dead !== true) continue;
      const lost = { count: (job.lost?.count ?? 0) + 1, worker: job.leasedBy, at: at.now };
      tables.jobs.put(job.id, { ...takenBack(job), lost, enterAt: null });
      count += 1;
    }
  }
  return count;
}

function repairRuns(tables: Tables, at: Moment): { count: number; queued: boolean } {
  const lost = tables.runs.all().filter((run) => run.endState === null && !tables.jobs.has(run.id));
  let queued = false;
  for (const { id, fn, lane, startedAt } of lost) {
    const timeouts = tables.waitsOf(id).map((wait) => wait.timeoutAt ?? never);
    const dueAt = timeouts.length === 0 ? null : Math.min(...timeouts);
    tables.jobs.put(id, {
      id,
      kind: "run",
      fn,
      rank: at.now,
      dueAt,
      fence: 0,
      leasedBy: null,
      ...untroubled,
      isBornLeased: false,
      lane: startedAt === null ? lane : onceBegun(lane),
      beside: nothingBeside,
      besideTurn: 0,
      startBy: null,
    });
    if (dueAt === null || dueAt <= at.now) queued = true;
  }
  return { count: lost.length, queued };
}

function reap(database: Database, at: Moment, max: number): number {
  let count = 0;
  for (const tables of database.allEnvironments()) {
    for (const claim of tables.claims.all()) {
      if (count === max) return count;
      if (isOpen(claim, at.windowNow(claim.takenAt))) continue;
      tables.deleteClaim(claim);
      count += 1;
    }
  }
  return count;
}
