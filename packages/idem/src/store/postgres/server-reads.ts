// How the server itself fares: who keeps dead rows from being cleared away, who would take over from it, how it clears away.
// Read-only questions for `idem doctor`. A role without pg_read_all_stats sees what its own sessions do, and of the others only that
// they are there.
import type { Connection } from "./connection.ts";
import { standbysDroppedSql } from "./history-watch.ts";
import { quoted } from "./statement.ts";

export interface OldTransaction {
  readonly pid: number | null;
  readonly role: string | null;
  readonly application: string | null;
  /** "idle in transaction", "active", "prepared". */
  readonly state: string | null;
  readonly ageMs: number;
}

// A vacuum's own snapshot keeps nobody from clearing away.
const oldTransactionsSql = `
  select pid, usename as role, application_name as application, state,
         (extract(epoch from clock_timestamp() - xact_start) * 1000)::bigint as "ageMs"
    from pg_stat_activity
   where backend_xmin is not null and xact_start is not null and backend_type <> 'autovacuum worker'
     and pid <> pg_backend_pid()
  union all
  select null, owner, gid, 'prepared', (extract(epoch from clock_timestamp() - prepared) * 1000)::bigint
    from pg_prepared_xacts
   order by "ageMs" desc limit ?`;

/** The oldest first: rows that one of them may still see stay on the disk. */
export const oldTransactions = (connection: Connection, limit: number): Promise<OldTransaction[]> =>
  connection.all<OldTransaction>(oldTransactionsSql, limit);

export interface ServerState {
  /** The server's clock. */
  readonly now: number;
  /** Whether this role sees what the sessions of others do. */
  readonly seesAll: boolean;
  readonly sessions: number;
  /** Of max_connections, those that are kept for administrators. */
  readonly sessionsReserved: number;
  /** The queue with its indexes. */
  readonly jobsBytes: number;
  readonly liveJobs: number;
  readonly autovacuum: string;
  readonly autovacuumNaptimeMs: number;
  readonly synchronousStandbys: string;
  /** Servers that follow this one as a whole; not those that follow some tables, and no backup that is just being taken. */
  readonly standbys: number;
  /** When a node that ran saw that commits no longer wait for a standby; null while they do, and where they never did. */
  readonly standbysDroppedAt: number | null;
}

export const countStandbysSql = `
  select count(*) from pg_stat_replication s
   where s.application_name not in ('pg_basebackup', 'pg_receivewal')
     and not exists (select 1 from pg_replication_slots l where l.active_pid = s.pid and l.slot_type = 'logical')`;

const serverStateSql = `
  select (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
         pg_has_role(current_user, 'pg_read_all_stats', 'usage') as "seesAll",
         (select coalesce(sum(numbackends), 0)::bigint from pg_stat_database) as sessions,
         current_setting('superuser_reserved_connections')::bigint
           + coalesce(current_setting('reserved_connections', true), '0')::bigint as "sessionsReserved",
         coalesce(pg_total_relation_size(to_regclass(:jobs)), 0)::bigint as "jobsBytes",
         (select coalesce(sum(n_live_tup), 0)::bigint from pg_stat_all_tables
           where relid = to_regclass(:jobs)) as "liveJobs",
         current_setting('autovacuum') as autovacuum,
         (select setting::bigint * 1000 from pg_settings where name = 'autovacuum_naptime') as "autovacuumNaptimeMs",
         current_setting('synchronous_standby_names') as "synchronousStandbys",
         (${countStandbysSql}) as standbys, ${standbysDroppedSql} as "standbysDroppedAt"`;

export const readServerState = async (connection: Connection, schema: string): Promise<ServerState> =>
  (await connection.find<ServerState>(serverStateSql, { jobs: `${quoted(schema)}.jobs` }))[0]!;
