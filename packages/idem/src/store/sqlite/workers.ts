// The lease is the worker's, not the job's: one row per process, extended by one write, however many jobs it holds.
import type { HeartbeatAnswer, SweepAnswer } from "../leases.ts";
import { foldEnds, isWholeBatch } from "../rules/count-ends.ts";
import { reapMessages } from "../rules/publish-messages.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { WorkerAbout } from "../sharing.ts";
import type { ClaimKeyRow } from "./claim-index.ts";
import type { Transaction } from "./transaction.ts";

const selectWorkerSql = "select dead_at from workers where id = ?";
const writeWorkerSql = `
  insert into workers (id, started_at, until, beat_at, node, version, role) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update
     set until   = excluded.until,
         beat_at = excluded.beat_at,
         node    = coalesce(excluded.node, node),
         version = coalesce(excluded.version, version),
         role    = coalesce(excluded.role, role)`;
// Not deleted: a lease or an ingest of this worker that was still on its way must find a name that sweeps look after.
const dismissWorkerSql = `
  insert into workers (id, started_at, until, dead_at) values (?, ?, ?, ?)
  on conflict (id) do update set dead_at = coalesce(dead_at, excluded.dead_at)`;
const handBackSql = "update jobs set leased_by = null, fence = fence + 1 where leased_by = ?";

const declareDeadSql = "update workers set dead_at = ? where dead_at is null and until < ?";
const deadWorkersSql = "select id from workers where dead_at is not null order by id";
const rescueSql = `
  update jobs set leased_by = null, fence = fence + 1, lost_workers = lost_workers + 1, lost_by = leased_by, lost_at = ?,
                  enter_at = null
   where (env, id) in (select env, id from jobs where leased_by = ? limit ?)`;
const leasedCountSql = "select count(*) as count from jobs where leased_by = ?";

// An open run always has its job; one without was lost to a defect. Its id is the run's, so adding it twice adds it once.
const repairSql = `
  insert into jobs (env, id, kind, run_id, fn, rank, due_at, fence, had_waits)
  select r.env, r.id, 'run', r.id, r.fn, ?, null, 0, 1
    from runs r
   where r.ended_state is null and not exists (select 1 from jobs j where j.env = r.env and j.id = r.id)
   limit ?`;

// A window that ended by itself behaves as absent already; deleting its row is housekeeping.
const reapSql = `
  delete from claims
   where n in (select n from claims indexed by claims_by_end where ends_at <= ? and held = 0 order by ends_at limit ?)
  returning n, env, scope, key`;

export function heartbeatWorker(tx: Transaction, worker: string, termMs: number, about?: WorkerAbout): HeartbeatAnswer {
  const { now } = tx.at;
  const row = tx.connection.one<{ dead_at: number | null }>(selectWorkerSql, worker);
  if (row !== undefined && row.dead_at !== null) return { alive: false, now };
  const { node = null, version = null, role = null } = about ?? {};
  tx.connection.run(writeWorkerSql, worker, now, now + termMs, now, node, version, role);
  return { alive: true, now };
}

export function handBackJobs(tx: Transaction, worker: string): { count: number } {
  const count = tx.connection.run(handBackSql, worker);
  if (count > 0) tx.lanes.forget();
  const { now } = tx.at;
  tx.connection.run(dismissWorkerSql, worker, now, now, now);
  return { count };
}

export function sweepStore(tx: Transaction, input: { max: number; repair: boolean }): SweepAnswer {
  const { connection, at } = tx;
  connection.run(declareDeadSql, at.now, at.leaseNow);
  let rescued = 0;
  for (const { id } of connection.all<{ id: string }>(deadWorkersSql)) {
    if (rescued < input.max) rescued += connection.run(rescueSql, at.now, id, input.max - rescued);
    // The row stays until no job names it: a rescue cut short goes on here.
    if (connection.one<{ count: number }>(leasedCountSql, id)!.count === 0) retire(tx, id);
  }
  if (rescued > 0) {
    tx.known.noteRescue();
    tx.lanes.forget();
  }
  const repaired = input.repair ? connection.run(repairSql, at.now, input.max) : 0;
  const reaped = reapClaims(tx, input.max);
  reapLimits(tx, input.max);
  driveAtOnce(reapMessages(tx, input.max));
  const isCounted = !isWholeBatch(driveAtOnce(foldEnds(tx)));
  return { rescued, repaired, reaped, isCounted, queued: rescued > 0 || repaired > 0 };
}

// Longer than any period a limit may have: what is older counts for nobody.
const limitRowKeptMs = 8 * 24 * 60 * 60 * 1000;
const reapStartsSql = `
  delete from rate_starts where (env, id, stamp) in (
    select env, id, stamp from rate_starts indexed by rate_starts_by_time where at < ? order by at limit ?)`;
const reapThrottlesSql = `
  delete from throttles where (env, id) in (
    select env, id from throttles indexed by throttles_by_time where tat < ? order by tat limit ?)`;

function reapLimits(tx: Transaction, max: number): void {
  const before = tx.at.now - limitRowKeptMs;
  tx.connection.run(reapStartsSql, before, max);
  tx.connection.run(reapThrottlesSql, before, max);
}

function reapClaims(tx: Transaction, max: number): number {
  const reaped = tx.connection.all<ClaimKeyRow>(reapSql, tx.at.windowNow(0), max);
  for (const row of reaped) tx.claims.remove(row);
  return reaped.length;
}

// A frozen worker that wakes up must still learn that it was declared dead, so its row outlives its jobs for a while.
const deadRowKeptMs = 60 * 60 * 1000;
const retireSql = "delete from workers where id = ? and dead_at < ?";

function retire(tx: Transaction, worker: string): void {
  tx.connection.run(retireSql, worker, tx.at.now - deadRowKeptMs);
}
