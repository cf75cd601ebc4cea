// Due jobs go to a worker: what must be ended because it did not begin in time, timers whose time has come, then half from the lanes
// and half from the ready queue by rank, so that neither starves the other. What another node is leasing just now is passed over.
// Promise: never before the due time, never a function the worker lacks, no limit exceeded, fence + 1 with every change of hands.
import { laneOnceBegun } from "../../flow/lane.ts";
import type { ParkedKind } from "../../model/run.ts";
import { LeaseRoom } from "../lease-room.ts";
import type { LeaseAnswer, LeasedJob, LeaseInput } from "../leases.ts";
import { readEvent, troublesOf } from "../rows.ts";
import { expireWaits } from "../rules/end-wait.ts";
import { flushDue, nextFlushAt } from "../rules/flush-buffer.ts";
import { findEvent, readMemo } from "../rules/read-memo.ts";
import { driveAwaited } from "../rules/rule.ts";
import { newWriting } from "../writing.ts";
import { LaneRound } from "./lane-round.ts";
import { slotColumns } from "./lane-slots.ts";
import type { Transaction } from "./transaction.ts";

interface JobRow {
  id: string;
  kind: "run" | "deliver" | "announce";
  run_id: string | null;
  fn: string | null;
  event_id: string | null;
  fence: number;
  lost_workers: number;
  enter_at: number | null;
  parked_kind: ParkedKind | null;
  parked_reason: string | null;
  lane: string | null;
  due_at: number | null;
  rank: number;
  bytes: number;
}

// What its memo weighs stands beside each value: none is read for it.
const jobColumns = `id, kind, run_id, fn, event_id, fence, lost_workers, enter_at, parked_kind, parked_reason, lane, due_at, rank,
  (select cast(coalesce(sum(octet_length(s.json)), 0) as double precision) from steps s
    where s.env = jobs.env and s.run_id = jobs.run_id) as bytes`;

// The partial indexes give the order.
const selectTimersSql = `
  select ${jobColumns}
    from jobs
   where env = ? and leased_by is null and due_at is not null and due_at <= ?
     and (fn is null or fn = any(cast(? as text[])))
   order by due_at limit ? for update skip locked`;

// From a rank on: what was leased before lies dead at the low end of the index for as long as any transaction of the server is
// open, and every look from the bottom would walk over it.
const selectReadySql = `
  select ${jobColumns}
    from jobs
   where env = ? and leased_by is null and due_at is null and lane is null and rank >= ?
     and (fn is null or fn = any(cast(? as text[])))
   order by rank limit ? for update skip locked`;

const selectOverdueSql = `
  select ${jobColumns}
    from jobs
   where env = ? and leased_by is null and start_by is not null and start_by <= ? and fn = any(cast(? as text[]))
   order by start_by limit ? for update skip locked`;

const selectOfLaneSql = `
  select ${jobColumns}
    from jobs
   where env = ? and lane = ? and leased_by is null and due_at is null order by rank limit ? for update skip locked`;

const takeJobSql = `
  update jobs set leased_by = ?, fence = fence + 1, due_at = null, start_by = null, lane = ?, slot_1 = ?, slot_2 = ?,
                  beside_1 = 0, beside_2 = 0, beside_turn = 0
   where env = ? and id = ?`;
// Its time to start stays: whoever rescues it finds it overdue again.
const takeOverdueSql = `
  update jobs set leased_by = ?, fence = fence + 1, due_at = null, lane = null, slot_1 = null, slot_2 = null
   where env = ? and id = ?`;
const joinLaneSql = "update jobs set due_at = null, rank = ? where env = ? and id = ?";
const startRunSql = "update runs set started_at = ?, code = ? where env = ? and id = ? and started_at is null";
const nextDueSql = `
  select min(due_at) as due_at from jobs
   where env = ? and leased_by is null and due_at is not null and due_at > ?`;
const nextOverdueSql = `
  select min(start_by) as start_by from jobs
   where env = ? and leased_by is null and start_by is not null and start_by > ?`;

export async function leaseJobs(tx: Transaction, input: LeaseInput): Promise<LeaseAnswer> {
  const { env, max, worker } = input;
  const { now } = tx.at;
  const { functions } = input;
  const flushing = newWriting();
  await driveAwaited(flushDue(tx, env, flushing));
  const taken: { row: JobRow; isOverdue: boolean }[] = [];
  const room = new LeaseRoom(input.room);
  const take: Take = (row, lane) => {
    tx.connection.write(takeJobSql, worker, lane, ...slotColumns(lane), env, row.id);
    taken.push({ row, isOverdue: false });
  };
  for (const row of await tx.connection.all<JobRow>(selectOverdueSql, env, now, functions, max)) {
    if (!room.takes(row.bytes)) break;
    tx.connection.write(takeOverdueSql, worker, env, row.id);
    taken.push({ row, isOverdue: true });
  }
  await leaseTimers(tx, input, max - taken.length, room, take);
  const left = () => (room.isCut ? 0 : max - taken.length);
  const round = await LaneRound.open(tx, {
    env,
    functions: new Set(functions),
    caps: input.caps,
    max: left(),
    after: tx.turns.after(env),
  });
  await leaseLanes(tx, env, round, tx.turns.halfOf(left()), room, take);
  if (left() > 0) {
    const look = tx.floors.look(env, functions);
    const limit = left();
    const ready = await tx.connection.all<JobRow>(selectReadySql, env, look.from, functions, limit);
    const fitting = ready.findIndex((row) => !room.takes(row.bytes));
    const fit = fitting === -1 ? ready : ready.slice(0, fitting);
    for (const row of fit) take(row, null);
    look.found(fit.at(-1)?.rank ?? null, fit.length === ready.length && ready.length < limit);
  }
  await leaseLanes(tx, env, round, left(), room, take);
  await round.close(tx, env, tx.turns);
  // Sent one behind the other on one session, so they overlap; the memo is read after the lease is taken, never before.
  const jobs = await Promise.all(taken.map(({ row, isOverdue }) => leasedJob(tx, input, row, isOverdue)));
  const { redecided, cancelled } = flushing;
  const flushed = redecided === null ? {} : { flushed: { decided: redecided, cancelled } };
  return {
    now,
    jobs: jobs.filter((job) => job !== null),
    nextDueAt: await nextDueAt(tx, env, round.nextAt),
    ...(room.isCut ? { isCut: true } : {}),
    ...flushed,
  };
}

type Take = (row: JobRow, lane: string | null) => void;

/** Timers of runs that take slots join their lane, and are leased in its turn. */
async function leaseTimers(
  tx: Transaction,
  { env, functions }: LeaseInput,
  max: number,
  room: LeaseRoom,
  take: Take,
): Promise<void> {
  let left = max;
  while (left > 0 && !room.isCut) {
    const rows = await tx.connection.all<JobRow>(selectTimersSql, env, tx.at.now, functions, left);
    const plain = rows.filter(({ lane }) => lane === null);
    for (const row of plain) {
      if (!room.takes(row.bytes)) break;
      take(row, null);
    }
    for (const row of rows) if (row.lane !== null) tx.connection.write(joinLaneSql, row.due_at, env, row.id);
    left -= plain.length;
    if (plain.length === rows.length) return;
  }
}

async function leaseLanes(
  tx: Transaction,
  env: string,
  round: LaneRound,
  max: number,
  room: LeaseRoom,
  take: Take,
): Promise<void> {
  const turns = round.take(max, tx.at.now);
  const names = new Map(turns.map((lane) => [lane.text, lane.name]));
  const rows = new Map<string, JobRow[]>();
  await Promise.all(
    [...names.keys()].map(async (text) => {
      const count = turns.filter((turn) => turn.text === text).length;
      rows.set(text, await tx.connection.all<JobRow>(selectOfLaneSql, env, text, count));
    }),
  );
  for (const { text, name } of turns) {
    const row = rows.get(text)!.shift();
    if (row === undefined) continue;
    // Its turn and its start are counted by now: lanes are cut between rounds, not within one.
    room.takes(row.bytes);
    take(row, laneOnceBegun(name, text));
  }
}

async function leasedJob(
  tx: Transaction,
  { env, codes }: LeaseInput,
  row: JobRow,
  isOverdue: boolean,
): Promise<LeasedJob | null> {
  const { connection, at } = tx;
  const fence = row.fence + 1;
  if (row.kind === "deliver") {
    const event = await driveAwaited(findEvent(tx, env, row.event_id!));
    return event === undefined ? null : { kind: "deliver", jobId: row.id, fence, event: readEvent(event) };
  }
  if (row.kind === "run") {
    connection.write(startRunSql, at.now, codes?.[row.fn!] ?? null, env, row.run_id);
    await driveAwaited(expireWaits(tx, env, row.run_id!));
  }
  const memo = await driveAwaited(readMemo(tx, env, row.run_id!));
  if (memo === null) return null;
  if (row.kind === "announce") return { kind: "announce", jobId: row.id, fence, memo };
  tx.sawStamp(memo.steps.at(-1)?.stamp ?? 0);
  const lostWorkers = row.lost_workers;
  const job = { kind: "run", jobId: row.id, fence, lostWorkers, ...troublesOf(row, memo), memo } as const;
  return isOverdue ? { ...job, isOverdue: true } : job;
}

async function nextDueAt(tx: Transaction, env: string, putOffUntil: number | null): Promise<number | null> {
  const { connection, at } = tx;
  const [timer, overdue, flush] = await Promise.all([
    connection.one<{ due_at: number | null }>(nextDueSql, env, at.now),
    connection.one<{ start_by: number | null }>(nextOverdueSql, env, at.now),
    driveAwaited(nextFlushAt(tx, env)),
  ]);
  const times = [timer?.due_at, overdue?.start_by, flush, putOffUntil].filter((time): time is number => time != null);
  return times.length === 0 ? null : Math.min(...times);
}
