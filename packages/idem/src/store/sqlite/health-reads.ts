// Is the file sound, and does everything open still move? Read-only questions for `idem doctor`.
import type { Connection } from "./connection.ts";

/** An empty list means that SQLite found nothing wrong. `quick` skips comparing indexes with their tables. */
export function checkIntegrity(connection: Connection, how: "full" | "quick"): string[] {
  const pragma = how === "full" ? "integrity_check(20)" : "quick_check(20)";
  const rows = connection.db.pragma(pragma) as Record<string, string>[];
  return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
}

export interface FileFacts {
  readonly journalMode: string;
  readonly pageCount: number;
  readonly pageSize: number;
  readonly freePages: number;
  /** Who opened it for writing last. */
  readonly owner: string | null;
  /** The store's clock at its last write, within a second. */
  readonly clock: number | null;
}

const metaSql = "select value from meta where name = ?";

export function readFileFacts(connection: Connection): FileFacts {
  const pragma = (name: string) => connection.db.pragma(name, { simple: true }) as number;
  const meta = (name: string) => connection.one<{ value: string }>(metaSql, name)?.value ?? null;
  const clock = meta("clock");
  return {
    journalMode: String(connection.db.pragma("journal_mode", { simple: true })),
    pageCount: pragma("page_count"),
    pageSize: pragma("page_size"),
    freePages: pragma("freelist_count"),
    owner: meta("owner"),
    clock: clock === null ? null : Number(clock),
  };
}

export interface StuckRun {
  readonly runId: string;
  readonly fn: string;
  readonly createdAt: number;
}

// Open runs are few beside ended ones, but no index tells them apart; this reads every run once.
const joblessSql = `
  select r.id as runId, r.fn, r.created_at as createdAt from runs r
   where r.env = ? and r.ended_state is null
     and not exists (select 1 from jobs j where j.env = r.env and j.id = r.id)
   order by r.id limit ?`;

/** Open runs that nothing will ever take up again: each one is a defect. */
export const runsWithoutJob = (connection: Connection, env: string, limit: number): StuckRun[] =>
  connection.all<StuckRun>(joblessSql, env, limit);

export interface OverdueRun extends StuckRun {
  readonly fence: number;
  /** Since when it may start; never earlier than it can be known. */
  readonly dueSince: number;
}

const overdueSql = `
  select j.id as runId, j.fn, r.created_at as createdAt, j.fence,
         max(r.created_at, case when j.due_at is not null then j.due_at when j.rank <= ? then j.rank else 0 end) as dueSince
    from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = ? and j.kind = 'run' and j.leased_by is null and (j.due_at is null or j.due_at <= ?) and j.lane is null
   order by dueSince limit ?`;

/** Due runs that no worker has taken for at least `forMs`. Those that stand in line for a limit wait on purpose. */
export const overdueRuns = (connection: Connection, env: string, now: number, forMs: number, limit: number) =>
  connection.all<OverdueRun>(overdueSql, now, env, now, limit).filter(({ dueSince }) => dueSince <= now - forMs);

const orphanedSql = `
  select j.id as runId, j.fn, r.created_at as createdAt from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = ? and j.leased_by is not null
     and not exists (select 1 from workers w where w.id = j.leased_by)
   order by j.id limit ?`;

/** Leased to a worker the store does not know: nobody will give them back. */
export const runsOfUnknownWorkers = (connection: Connection, env: string, limit: number): StuckRun[] =>
  connection.all<StuckRun>(orphanedSql, env, limit);

const waitingSql = `
  select fn, kind, count(*) as count, min(timeout_at) as nextAt from waits w
    join runs r on r.env = w.env and r.id = w.run_id
   where w.env = ? group by fn, kind order by count(*) desc limit ?`;

export interface WaitingCount {
  readonly fn: string;
  readonly kind: "time" | "event" | "signal" | "run";
  readonly count: number;
  readonly nextAt: number | null;
}

export const waitingRuns = (connection: Connection, env: string, limit: number): WaitingCount[] =>
  connection.all<WaitingCount>(waitingSql, env, limit);
