// Workers and the one lease each has for all its jobs. A worker declared lost stays lost: its leases are gone for good.
import type { HeartbeatAnswer } from "../store.ts";
import type { Database, JobRow, Moment } from "./tables.ts";

export function heartbeat(database: Database, at: Moment, worker: string, termMs: number): HeartbeatAnswer {
  if (database.workers.get(worker)?.dead === true) return { alive: false, now: at.now };
  database.workers.put(worker, { until: at.now + termMs, dead: false });
  return { alive: true, now: at.now };
}

export function handBack(database: Database, worker: string): { count: number } {
  let count = 0;
  for (const tables of database.allEnvironments()) {
    for (const job of tables.jobs.all().filter(({ leasedBy }) => leasedBy === worker)) {
      tables.jobs.put(job.id, takenBack(job));
      count += 1;
    }
  }
  // Not deleted: a lease of this worker that was still on its way must find a name that sweeps look after.
  database.workers.put(worker, { until: 0, dead: true });
  return { count };
}

/** Due at once for anyone, under a new fence: what the old holder still saves is refused. */
export const takenBack = <J extends JobRow>(job: J): J => ({
  ...job,
  leasedBy: null,
  fence: job.fence + 1,
});
