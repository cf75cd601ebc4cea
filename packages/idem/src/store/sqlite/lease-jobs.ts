// Due jobs go to a worker: what must be ended because it did not begin in time, timers whose time has come, then half from the lanes
// and half from the ready queue by rank, so that neither starves the other.
// Promise: never before the due time, never a function the worker lacks, no limit exceeded, fence + 1 with every change of hands.
import { laneOnceBegun } from "../../flow/lane.ts";
import { LeaseRoom } from "../lease-room.ts";
import type { LeaseAnswer, LeasedJob, LeaseInput } from "../leases.ts";
import { expireWaits } from "../rules/end-wait.ts";
import { flushDue } from "../rules/flush-buffer.ts";
import { type FoundJob, foundColumns, nextDueAt, toDeliver, toExecute } from "../rules/lease-jobs.ts";
import { admitted } from "../rules/limit-starts.ts";
import { findEvent, readMemo } from "../rules/read-memo.ts";
import { driveAtOnce } from "../rules/rule.ts";
import { newWriting } from "../writing.ts";
import { isLeasable } from "./leasable-functions.ts";
import type { Transaction } from "./transaction.ts";

// The size of its memo stands in the heads of its rows: no value is read for it.
const jobColumns = `${foundColumns},
  (select coalesce(sum(octet_length(s.json)), 0) from steps s where s.env = jobs.env and s.run_id = jobs.run_id) as bytes`;

// The partial indexes give the order.
const selectTimersSql = `
  select ${jobColumns}
    from jobs indexed by jobs_timers
   where env = ? and leased_by is null and due_at is not null and due_at <= ?
     and (fn is null or ${isLeasable})
   order by due_at limit ?`;

const selectReadySql = `
  select ${jobColumns}
    from jobs indexed by jobs_ready
   where env = ? and leased_by is null and due_at is null and lane is null
     and (fn is null or ${isLeasable})
   order by rank limit ?`;

const selectOverdueSql = `
  select ${jobColumns}
    from jobs indexed by jobs_start_by
   where env = ? and leased_by is null and start_by is not null and start_by <= ?
     and ${isLeasable}
   order by start_by limit ?`;

const selectFirstOfLaneSql = `
  select ${jobColumns}
    from jobs indexed by jobs_lanes
   where env = ? and lane = ? and leased_by is null and due_at is null order by rank limit 1`;

const takeJobSql =
  "update jobs set leased_by = ?, fence = fence + 1, due_at = null, start_by = null, lane = ?, beside_1 = 0, beside_2 = 0, beside_turn = 0 where env = ? and id = ?";
// Its time to start stays: after a rescue it is found overdue again.
const takeOverdueSql =
  "update jobs set leased_by = ?, fence = fence + 1, due_at = null, lane = null where env = ? and id = ?";
const joinLaneSql = "update jobs set due_at = null, rank = ? where env = ? and id = ?";
const startRunSql = "update runs set started_at = ?, code = ? where env = ? and id = ? and started_at is null";
export function leaseJobs(tx: Transaction, input: LeaseInput): LeaseAnswer {
  const { env, max } = input;
  const { now } = tx.at;
  const functions = tx.leasable.numberOf(input.functions);
  for (const fn of Object.keys(input.caps)) tx.lanes.noteCaps(env, fn, input.caps[fn]!);
  const flushing = newWriting();
  driveAtOnce(flushDue(tx, env, flushing));
  const room = new LeaseRoom(input.room);
  const jobs: LeasedJob[] = [];
  const add = (job: LeasedJob | null) => {
    if (job !== null) jobs.push(job);
  };
  const take: Take = (row, lane) => {
    tx.connection.run(takeJobSql, input.worker, lane, env, row.id);
    add(leasedJob(tx, input, row, false));
  };
  for (const row of tx.connection.all<FoundJob>(selectOverdueSql, env, now, functions, max)) {
    if (!room.takes(row.bytes)) break;
    tx.connection.run(takeOverdueSql, input.worker, env, row.id);
    add(leasedJob(tx, input, row, true));
  }
  leaseTimers(tx, input, functions, max - jobs.length, room, take);
  leaseLanes(tx, input, tx.lanes.halfOf(max - jobs.length), room, take);
  if (jobs.length < max && !room.isCut) {
    for (const row of tx.connection.all<FoundJob>(selectReadySql, env, functions, max - jobs.length)) {
      if (!room.takes(row.bytes)) break;
      take(row, null);
    }
  }
  leaseLanes(tx, input, max - jobs.length, room, take);
  const { redecided, cancelled } = flushing;
  const flushed = redecided === null ? {} : { flushed: { decided: redecided, cancelled } };
  return {
    now,
    jobs,
    nextDueAt: driveAtOnce(nextDueAt(tx, env, tx.lanes.nextPutOff())),
    ...(room.isCut ? { isCut: true } : {}),
    ...flushed,
  };
}

type Take = (row: FoundJob, lane: string | null) => void;

/** Timers of runs that take slots join their lane, and are leased in its turn. */
function leaseTimers(
  tx: Transaction,
  { env }: LeaseInput,
  functions: number,
  max: number,
  room: LeaseRoom,
  take: Take,
): void {
  let left = max;
  while (left > 0 && !room.isCut) {
    const rows = tx.connection.all<FoundJob>(selectTimersSql, env, tx.at.now, functions, left);
    const plain = rows.filter(({ lane }) => lane === null);
    for (const row of plain) {
      if (!room.takes(row.bytes)) break;
      take(row, null);
    }
    for (const row of rows) {
      if (row.lane === null) continue;
      tx.connection.run(joinLaneSql, row.due_at, env, row.id);
      tx.lanes.join(env, row.lane);
    }
    left -= plain.length;
    if (plain.length === rows.length) return;
  }
}

/** Every lane that can run gets a run before any lane gets a second one. */
function leaseLanes(
  tx: Transaction,
  { env, functions, caps }: LeaseInput,
  max: number,
  room: LeaseRoom,
  take: Take,
): void {
  let left = max;
  for (;;) {
    let isAny = false;
    const passedOn = tx.lanes.passedOn;
    for (const lane of tx.lanes.turns(env, functions, tx.at.now)) {
      if (left <= 0 || room.isCut) return;
      const own = caps[lane.name.fn];
      if (!tx.lanes.mayRun(lane, own)) continue;
      const row = tx.connection.one<FoundJob>(selectFirstOfLaneSql, env, lane.text);
      if (row === undefined) {
        tx.lanes.emptied(lane);
        continue;
      }
      if (!room.takes(row.bytes)) return;
      const laterAt = driveAtOnce(admitted(tx, env, lane.name, own, tx.at.now));
      if (laterAt !== null) {
        tx.lanes.putOff(lane, laterAt);
        continue;
      }
      take(row, laneOnceBegun(lane.name, lane.text));
      tx.lanes.served(lane);
      left--;
      isAny = true;
    }
    // Lanes that could not run may have made room for lanes that had no turn yet.
    if (!isAny && tx.lanes.passedOn === passedOn) return;
  }
}

function leasedJob(tx: Transaction, { env, codes }: LeaseInput, row: FoundJob, isOverdue: boolean): LeasedJob | null {
  if (row.kind === "deliver") {
    const event = driveAtOnce(findEvent(tx, env, row.event_id!));
    return event === undefined ? null : toDeliver(row, event);
  }
  if (row.kind === "run") {
    tx.connection.run(startRunSql, tx.at.now, codes?.[row.fn!] ?? null, env, row.run_id);
    driveAtOnce(expireWaits(tx, env, row.run_id!));
  }
  const memo = driveAtOnce(readMemo(tx, env, row.run_id!));
  return memo === null ? null : toExecute(row, memo, isOverdue);
}
