// Is the schema sound, and does everything open still move? Read-only questions for `idem doctor`.
import type { Connection } from "./connection.ts";

// An index that was being built when its session ended is kept up to date and never used.
const brokenIndexesSql = `
  select c.relname as name from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = ? and not (i.indisvalid and i.indisready) order by c.relname`;
// Null where the server keeps no checksums.
const checksumFailuresSql = `
  select coalesce(checksum_failures, 0) as count from pg_stat_database where datname = current_database()`;

/** An empty list means that the server found nothing wrong. */
export async function checkIntegrity(connection: Connection, schema: string): Promise<string[]> {
  const indexes = await connection.all<{ name: string }>(brokenIndexesSql, schema);
  const failures = (await connection.one<{ count: number }>(checksumFailuresSql))?.count ?? 0;
  return [
    ...indexes.map(({ name }) => `index ${name} is not valid`),
    ...(failures === 0 ? [] : [`${failures} pages of the database did not match their checksums`]),
  ];
}

export interface ServerFacts {
  readonly version: string;
  /** Tables and indexes of the schema. */
  readonly bytes: number;
  /** Rows of the queue that are gone for everyone and still take its space. */
  readonly deadJobs: number;
  /** How long the oldest transaction anywhere on the server is open; rows that it may still see cannot be cleared away. */
  readonly oldestTransactionMs: number;
  readonly sessions: number;
  readonly sessionsMax: number;
}

// A role without pg_read_all_stats sees the transactions of its own sessions only.
const serverFactsSql = `
  select current_setting('server_version') as version,
         (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
            join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = :schema and c.relkind in ('r', 'p')) as bytes,
         (select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_all_tables
           where schemaname = :schema and relname = 'jobs') as "deadJobs",
         (select coalesce(max(extract(epoch from clock_timestamp() - xact_start)) * 1000, 0)::bigint
            from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()) as "oldestTransactionMs",
         (select count(*) from pg_stat_activity where backend_type = 'client backend') as sessions,
         current_setting('max_connections')::bigint as "sessionsMax"`;

export const readServerFacts = async (connection: Connection, schema: string): Promise<ServerFacts> =>
  (await connection.find<ServerFacts>(serverFactsSql, { schema }))[0]!;

export interface StuckRun {
  readonly runId: string;
  readonly fn: string;
  readonly createdAt: number;
}

// Open runs are few beside ended ones, but no index tells them apart; this reads every run once.
const joblessSql = `
  select r.id as "runId", r.fn, r.created_at as "createdAt" from runs r
   where r.env = ? and r.ended_state is null
     and not exists (select 1 from jobs j where j.env = r.env and j.id = r.id)
   order by r.id limit ?`;

/** Open runs that nothing will ever take up again: each one is a defect. */
export const runsWithoutJob = (connection: Connection, env: string, limit: number): Promise<StuckRun[]> =>
  connection.all<StuckRun>(joblessSql, env, limit);

export interface OverdueRun extends StuckRun {
  readonly fence: number;
  /** Since when it may start; never earlier than it can be known. */
  readonly dueSince: number;
}

const overdueSql = `
  select j.id as "runId", j.fn, r.created_at as "createdAt", j.fence,
         greatest(r.created_at, case when j.due_at is not null then j.due_at when j.rank <= :now then j.rank else 0 end)
           as "dueSince"
    from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = :env and j.kind = 'run' and j.leased_by is null and (j.due_at is null or j.due_at <= :now)
     and j.lane is null
   order by "dueSince" limit :limit`;

/** Due runs that no worker has taken for at least `forMs`. Those that stand in line for a limit wait on purpose. */
export const overdueRuns = async (connection: Connection, env: string, now: number, forMs: number, limit: number) =>
  (await connection.find<OverdueRun>(overdueSql, { env, now, limit })).filter(
    ({ dueSince }) => dueSince <= now - forMs,
  );

const orphanedSql = `
  select j.id as "runId", j.fn, r.created_at as "createdAt" from jobs j join runs r on r.env = j.env and r.id = j.id
   where j.env = ? and j.leased_by is not null
     and not exists (select 1 from workers w where w.id = j.leased_by)
   order by j.id limit ?`;

/** Leased to a worker the store does not know: nobody will give them back. */
export const runsOfUnknownWorkers = (connection: Connection, env: string, limit: number): Promise<StuckRun[]> =>
  connection.all<StuckRun>(orphanedSql, env, limit);

const waitingSql = `
  select r.fn, w.kind, count(*) as count, min(w.timeout_at) as "nextAt" from waits w
    join runs r on r.env = w.env and r.id = w.run_id
   where w.env = ? group by r.fn, w.kind order by count(*) desc limit ?`;

export interface WaitingCount {
  readonly fn: string;
  readonly kind: "time" | "event" | "signal" | "run";
  readonly count: number;
  readonly nextAt: number | null;
}

export const waitingRuns = (connection: Connection, env: string, limit: number): Promise<WaitingCount[]> =>
  connection.all<WaitingCount>(waitingSql, env, limit);
