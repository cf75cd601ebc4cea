// Workers and the one lease each has for all its jobs. A worker declared lost stays lost: its leases are gone for good.
import type { HeartbeatAnswer } from "../leases.ts";
import type { WorkerAbout, WorkerRow } from "../sharing.ts";
import type { Database, JobRow, Moment } from "./tables.ts";

export function heartbeat(
  database: Database,
  at: Moment,
  worker: string,
  termMs: number,
  about?: WorkerAbout,
): HeartbeatAnswer {
  const { now } = at;
  const row = database.workers.get(worker);
  if (row?.dead === true) return { alive: false, now };
  database.workers.put(worker, {
    about: about ?? row?.about ?? null,
    startedAt: row?.startedAt ?? now,
    beatAt: now,
    until: now + termMs,
    dead: false,
  });
  return { alive: true, now };
}

export function handBack(database: Database, at: Moment, worker: string): { count: number } {
  let count = 0;
  for (const tables of database.allEnvironments()) {
    for (const job of tables.jobs.all().filter(({ leasedBy }) => leasedBy === worker)) {
      tables.jobs.put(job.id, takenBack(job));
      count += 1;
    }
  }
  // Not deleted: a lease of this worker that was still on its way must find a name that sweeps look after.
  const unheard = { about: null, startedAt: at.now, beatAt: null, until: at.now };
  database.workers.put(worker, { ...unheard, ...database.workers.get(worker), dead: true });
  return { count };
}

export function listWorkers(database: Database, leasedIn?: string): WorkerRow[] {
  const leased = new Map<string, number>();
  for (const tables of leasedIn === undefined ? database.allEnvironments() : [database.env(leasedIn)]) {
    for (const { leasedBy } of tables.jobs.all()) {
      if (leasedBy !== null) leased.set(leasedBy, (leased.get(leasedBy) ?? 0) + 1);
    }
  }
  return [...database.workers.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { about, dead, ...row }]) => ({
      id,
      node: about?.node ?? null,
      version: about?.version ?? null,
      role: about?.role ?? null,
      ...row,
      isDead: dead,
      leased: leased.get(id) ?? 0,
    }));
}

/** Due at once for anyone, under a new fence: what the old holder still saves is refused. */
export const takenBack = <J extends JobRow>(job: J): J => ({
  ...job,
  leasedBy: null,
  fence: job.fence + 1,
});
