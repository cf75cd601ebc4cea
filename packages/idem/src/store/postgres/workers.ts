// The lease is the worker's, not the job's: one row per process, extended by one write, however many jobs it holds.
import { heartbeatKeptMs } from "../history.ts";
import type { SweepAnswer } from "../leases.ts";
import { foldEnds, isWholeBatch } from "../rules/count-ends.ts";
import { reapMessages } from "../rules/publish-messages.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { WorkerAbout } from "../sharing.ts";
import { type CountedHeartbeat, deleteOldHeartbeats, type HeartbeatRow, moveHeartbeat } from "./history-watch.ts";
import type { Transaction } from "./transaction.ts";

// Two who disagree about a worker's life take turns on its row: once dead, it stays dead.
const writeWorkerSql = `
  insert into workers (id, started_at, until, beat_at, node, version, role) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update
     set until = excluded.until, beat_at = excluded.beat_at, node = coalesce(excluded.node, workers.node),
         version = coalesce(excluded.version, workers.version), role = coalesce(excluded.role, workers.role)
   where workers.dead_at is null
  returning id`;
// Not deleted: a lease or an ingest of this worker that was still on its way must find a name that sweeps look after.
const dismissWorkerSql = `
  insert into workers (id, started_at, until, dead_at) values (?, ?, ?, ?)
  on conflict (id) do update set dead_at = coalesce(workers.dead_at, excluded.dead_at)`;
// In the order in which everybody locks jobs.
const handBackSql = `
  update jobs set leased_by = null, fence = fence + 1
   where (env, id) in (select env, id from jobs where leased_by = ? order by id, env for update)`;

const declareDeadSql = "update workers set dead_at = ? where dead_at is null and until < ?";
// Hosts whose processes do not stay leave a name with every sweep: those that hold nothing, which are nearly all, are passed over here.
const deadHoldersSql = `
  select w.id from workers w cross join lateral (select 1 from jobs j where j.leased_by = w.id limit 1) held
   where w.dead_at is not null order by w.id`;
// Whoever is moving one of these runs just now finishes first, and is then refused by the fence.
const rescueSql = `
  update jobs set leased_by = null, fence = fence + 1, lost_workers = lost_workers + 1, lost_by = leased_by, lost_at = ?,
                  enter_at = null
   where (env, id) in (select env, id from jobs where leased_by = ? order by id, env limit ? for update)`;

// An open run always has its job; one without was lost to a defect. Its id is the run's, so adding it twice adds it once.
const repairSql = `
  insert into jobs (env, id, kind, run_id, fn, rank, due_at, fence, had_waits)
  select r.env, r.id, 'run', r.id, r.fn, ?, null, 0, 1
    from runs r
   where r.ended_state is null and not exists (select 1 from jobs j where j.env = r.env and j.id = r.id)
   limit ?
  on conflict (env, id) do nothing`;

// A window that ended by itself behaves as absent already; deleting its row is housekeeping. Rows to reap are looked up by where they are:
// the planner, which cannot know how few they are, would read all of the primary key. One that moves meanwhile is reaped the next time.
const reapSql = `
  delete from claims where ctid = any(array(
    select ctid from claims where ends_at <= ? and held = 0 and asked > 0 order by ends_at limit ? for update skip locked))`;

export async function heartbeatWorker(
  tx: Transaction,
  worker: string,
  termMs: number,
  about?: WorkerAbout,
  counted?: HeartbeatRow,
): Promise<CountedHeartbeat> {
  const { now } = tx.at;
  const [row, moved] = await Promise.all([
    tx.connection.one(
      writeWorkerSql,
      worker,
      now,
      now + termMs,
      now,
      about?.node ?? null,
      about?.version ?? null,
      about?.role ?? null,
    ),
    counted === undefined ? null : moveHeartbeat(tx, counted),
  ]);
  // Nodes that start after the server's clock was set back begin where the others are.
  tx.keepTime();
  return { alive: row !== undefined, now, moved };
}

export async function handBackJobs(tx: Transaction, worker: string): Promise<{ count: number }> {
  const { now } = tx.at;
  tx.connection.write(dismissWorkerSql, worker, now, now, now);
  return { count: await tx.connection.run(handBackSql, worker) };
}

export async function sweepStore(tx: Transaction, input: { max: number; repair: boolean }): Promise<SweepAnswer> {
  const { connection, at } = tx;
  connection.write(declareDeadSql, at.now, at.leaseNow);
  let rescued = 0;
  for (const { id } of await connection.all<{ id: string }>(deadHoldersSql)) {
    if (rescued === input.max) break;
    rescued += await connection.run(rescueSql, at.now, id, input.max - rescued);
  }
  connection.write(retireSql, at.now - deadRowKeptMs);
  const repaired = input.repair ? await connection.run(repairSql, at.now, input.max) : 0;
  const reaped = await connection.run(reapSql, at.windowNow(0), input.max);
  reapLimits(tx, input.max);
  deleteOldHeartbeats(tx, at.now - heartbeatKeptMs, input.max);
  await tx.waitChecks.maintain(tx);
  await driveAwaited(reapMessages(tx, input.max));
  const isCounted = !isWholeBatch(await driveAwaited(foldEnds(tx)));
  return { rescued, repaired, reaped, isCounted, queued: rescued > 0 || repaired > 0 };
}

// Longer than any period a limit may have: what is older counts for nobody.
const limitRowKeptMs = 8 * 24 * 60 * 60 * 1000;
const reapStartsSql = `
  delete from rate_starts where ctid = any(array(
    select ctid from rate_starts where at < ? order by at limit ? for update skip locked))`;
const reapThrottlesSql = `
  delete from throttles where ctid = any(array(
    select ctid from throttles where tat < ? order by tat limit ? for update skip locked))`;
const reapLocksSql = `
  delete from locks where ctid = any(array(select ctid from locks where at < ? limit ? for update skip locked))`;

function reapLimits(tx: Transaction, max: number): void {
  const before = tx.at.now - limitRowKeptMs;
  tx.connection.write(reapStartsSql, before, max);
  tx.connection.write(reapThrottlesSql, before, max);
  tx.connection.write(reapLocksSql, before, max);
}

// A frozen worker that wakes up must still learn that it was declared dead, so its row outlives its jobs for a while.
const deadRowKeptMs = 60 * 60 * 1000;
// It stays until no job names it: a rescue cut short goes on the next time.
const retireSql = `
  delete from workers w
   where w.dead_at < ? and (select 1 from jobs j where j.leased_by = w.id limit 1) is null`;
