// Due jobs go to a worker: what must be ended because it did not begin in time, timers whose time has come, then half from the lanes
// and half from the ready queue by rank, so that neither starves the other. What another node is leasing just now is passed over.
// Promise: never before the due time, never a function the worker lacks, no limit exceeded, fence + 1 with every change of hands.
//
// Whatever is done for one job is done for all that were found with it: a lease takes as many statements for two hundred jobs as for one.
import { laneOnceBegun } from "../../flow/lane.ts";
import { LeaseRoom } from "../lease-room.ts";
import type { LeaseAnswer, LeasedJob, LeaseInput } from "../leases.ts";
import { atTimeout, overdueWaits } from "../rules/end-wait.ts";
import { flushDue } from "../rules/flush-buffer.ts";
import { type FoundJob, foundColumns, nextDueAt, toDeliver, toExecute } from "../rules/lease-jobs.ts";
import { driveAwaited } from "../rules/rule.ts";
import { newWriting } from "../writing.ts";
import { type EndedWait, endWaitsOf } from "./end-waits.ts";
import { LaneRound } from "./lane-round.ts";
import { slotColumns } from "./lane-slots.ts";
import { eventsOf, readMemos, type WaitsOfRuns, waitsOfRuns } from "./read-memos.ts";
import type { Transaction } from "./transaction.ts";

type JobRow = FoundJob & { readonly rank: number };

// What its memo weighs stands beside each value: none is read for it.
const jobColumns = `${foundColumns}, rank,
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

const selectOfLanesSql = `
  select job.* from unnest(cast(:lanes as text[]), cast(:counts as int[])) as asked (in_line, count),
    lateral (
      select ${jobColumns}
        from jobs
       where env = :env and lane = asked.in_line and leased_by is null and due_at is null
       order by rank limit asked.count for update skip locked) as job`;

const takeJobsSql = `
  update jobs j set leased_by = :worker, fence = fence + 1, due_at = null, start_by = null, lane = given.lane,
                    slot_1 = given.slot_1, slot_2 = given.slot_2, beside_1 = 0, beside_2 = 0, beside_turn = 0
    from unnest(cast(:ids as text[]), cast(:lanes as text[]), cast(:slots1 as text[]), cast(:slots2 as text[]))
      as given (id, lane, slot_1, slot_2)
   where j.env = :env and j.id = given.id and j.id = any(cast(:ids as text[]))`;
// Its time to start stays: whoever rescues it finds it overdue again.
const takeOverdueSql = `
  update jobs set leased_by = :worker, fence = fence + 1, due_at = null, lane = null, slot_1 = null, slot_2 = null
   where env = :env and id = any(cast(:ids as text[]))`;
const joinLanesSql = "update jobs set rank = due_at, due_at = null where env = :env and id = any(cast(:ids as text[]))";
const startRunsSql = `
  update runs r set started_at = :now, code = given.code
    from unnest(cast(:ids as text[]), cast(:codes as text[])) as given (id, code)
   where r.env = :env and r.id = given.id and r.id = any(cast(:ids as text[])) and r.started_at is null`;

export async function leaseJobs(tx: Transaction, input: LeaseInput): Promise<LeaseAnswer> {
  const { env, max, functions } = input;
  const { connection, at } = tx;
  const flushing = newWriting();
  await driveAwaited(flushDue(tx, env, flushing));
  const room = new LeaseRoom(input.room);
  const taken = new TakenJobs(tx, input);
  const overdue = await connection.all<JobRow>(selectOverdueSql, env, at.now, functions, max);
  taken.overdue(fitting(overdue, room));
  await leaseTimers(tx, input, room, taken);
  const left = () => (room.isCut ? 0 : max - taken.count);
  const round = await LaneRound.open(tx, {
    env,
    functions: new Set(functions),
    caps: input.caps,
    max: left(),
    after: tx.turns.after(env),
  });
  await leaseLanes(tx, env, round, tx.turns.halfOf(left()), room, taken);
  if (left() > 0) {
    const look = tx.floors.look(env, functions);
    const limit = left();
    const ready = await connection.all<JobRow>(selectReadySql, env, look.from, functions, limit);
    const fit = fitting(ready, room);
    taken.plain(fit);
    look.found(fit.at(-1)?.rank ?? null, fit.length === ready.length && ready.length < limit);
  }
  await leaseLanes(tx, env, round, left(), room, taken);
  await round.close(tx, env, tx.turns);
  const { jobs, nextAt } = await taken.jobs(round.nextAt);
  const answer: { -readonly [K in keyof LeaseAnswer]: LeaseAnswer[K] } = { now: at.now, jobs, nextDueAt: nextAt };
  if (room.isCut) answer.isCut = true;
  const { redecided, cancelled } = flushing;
  if (redecided !== null) answer.flushed = { decided: redecided, cancelled };
  return answer;
}

/** Those before the first for which there is no room. */
function fitting(rows: readonly JobRow[], room: LeaseRoom): readonly JobRow[] {
  const end = rows.findIndex((row) => !room.takes(row.bytes));
  return end === -1 ? rows : rows.slice(0, end);
}

/** Timers of runs that take slots join their lane, and are leased in its turn. */
async function leaseTimers(
  tx: Transaction,
  { env, functions, max }: LeaseInput,
  room: LeaseRoom,
  taken: TakenJobs,
): Promise<void> {
  let left = max - taken.count;
  while (left > 0 && !room.isCut) {
    const rows = await tx.connection.all<JobRow>(selectTimersSql, env, tx.at.now, functions, left);
    const plain = rows.filter(({ lane }) => lane === null);
    taken.plain(fitting(plain, room));
    left -= plain.length;
    if (plain.length === rows.length) return;
    const ids = rows.filter(({ lane }) => lane !== null).map(({ id }) => id);
    await tx.connection.find(joinLanesSql, { env, ids });
  }
}

async function leaseLanes(
  tx: Transaction,
  env: string,
  round: LaneRound,
  max: number,
  room: LeaseRoom,
  taken: TakenJobs,
): Promise<void> {
  const turns = round.take(max, tx.at.now);
  if (turns.length === 0) return;
  const counts = new Map<string, number>();
  for (const { text } of turns) counts.set(text, (counts.get(text) ?? 0) + 1);
  const found = await tx.connection.find<JobRow>(selectOfLanesSql, {
    env,
    lanes: [...counts.keys()],
    counts: [...counts.values()],
  });
  const rows = new Map<string, JobRow[]>([...counts.keys()].map((text) => [text, []]));
  for (const row of found) rows.get(row.lane!)!.push(row);
  const served: TakenJob[] = [];
  for (const { text, name } of turns) {
    const row = rows.get(text)!.shift();
    if (row === undefined) continue;
    // Its turn and its start are counted by now: lanes are cut between rounds, not within one.
    room.takes(row.bytes);
    served.push({ row, lane: laneOnceBegun(name, text) });
  }
  taken.take(served);
}

interface TakenJob {
  readonly row: JobRow;
  readonly lane: string | null;
}

/** What was taken so far, in the order in which it was found. */
class TakenJobs {
  private readonly rows: JobRow[] = [];
  private overdueCount = 0;

  constructor(
    private readonly tx: Transaction,
    private readonly input: LeaseInput,
  ) {}

  get count(): number {
    return this.rows.length;
  }

  /** Before any other. */
  overdue(rows: readonly JobRow[]): void {
    if (rows.length === 0) return;
    const { env, worker } = this.input;
    this.tx.connection.send(takeOverdueSql, { worker, env, ids: rows.map(({ id }) => id) });
    this.rows.push(...rows);
    this.overdueCount = rows.length;
  }

  plain(rows: readonly JobRow[]): void {
    this.take(rows.map((row) => ({ row, lane: null })));
  }

  take(jobs: readonly TakenJob[]): void {
    if (jobs.length === 0) return;
    const { env, worker } = this.input;
    const slots = jobs.map(({ lane }) => slotColumns(lane));
    this.tx.connection.send(takeJobsSql, {
      worker,
      env,
      ids: jobs.map(({ row }) => row.id),
      lanes: jobs.map(({ lane }) => lane),
      slots1: slots.map(([slot]) => slot),
      slots2: slots.map(([, slot]) => slot),
    });
    for (const { row } of jobs) this.rows.push(row);
  }

  /** Their memos are read after the lease is taken, never before. */
  async jobs(putOffUntil: number | null): Promise<{ readonly jobs: LeasedJob[]; readonly nextAt: number | null }> {
    const { tx, rows } = this;
    const { env } = this.input;
    const { connection } = tx;
    const events = rows.filter(({ kind }) => kind === "deliver").map((row) => row.event_id!);
    const runs = rows.filter(({ kind }) => kind !== "deliver").map((row) => row.run_id!);
    const { waits, ending } = await this.begin();
    const [, delivered, memos, nextAt] = await Promise.all([
      ending,
      eventsOf(connection, env, events),
      readMemos(connection, env, runs, waits),
      driveAwaited(nextDueAt(tx, env, putOffUntil)),
    ]);
    const jobs: LeasedJob[] = [];
    for (const [i, row] of rows.entries()) {
      if (row.kind === "deliver") {
        const event = delivered.get(row.event_id!);
        if (event !== undefined) jobs.push(toDeliver(row, event));
        continue;
      }
      const memo = memos.get(row.run_id!);
      if (memo === undefined) continue;
      if (row.kind === "run") tx.sawStamp(memo.steps.at(-1)?.stamp ?? 0);
      jobs.push(toExecute(row, memo, i < this.overdueCount));
    }
    return { jobs, nextAt };
  }

  /** Runs begin, and waits whose time is over are about to end; `waits` are those they still wait for. */
  private async begin(): Promise<{ readonly waits: WaitsOfRuns; readonly ending: Promise<unknown> }> {
    const { tx, rows } = this;
    const { env, codes } = this.input;
    const begun = rows.filter(({ kind }) => kind === "run");
    if (begun.length > 0) {
      tx.connection.send(startRunsSql, {
        now: tx.at.now,
        env,
        ids: begun.map((row) => row.run_id!),
        codes: begun.map((row) => codes?.[row.fn!] ?? null),
      });
    }
    const found = await waitsOfRuns(
      tx.connection,
      env,
      rows.filter(({ kind }) => kind !== "deliver").map((row) => row.run_id!),
    );
    const waits = new Map(found);
    const ended: EndedWait[] = [];
    for (const { run_id } of begun) {
      const { over } = overdueWaits(found.get(run_id!) ?? [], tx.at.now);
      if (over.length === 0) continue;
      for (const wait of over) ended.push({ env, wait, outcome: atTimeout(wait) });
      waits.set(
        run_id!,
        found.get(run_id!)!.filter((wait) => !over.includes(wait)),
      );
    }
    return { waits, ending: endWaitsOf(tx, ended) };
  }
}
