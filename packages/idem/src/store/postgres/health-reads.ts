// Is the schema sound, does everything open still move, and what came in the last days? Read-only questions of tools.
import {
  overdueRuns as overdueRule,
  runsWithoutJob as runsWithoutJobRule,
  runsOfUnknownWorkers as unknownWorkersRule,
  waitingRuns as waitingRule,
} from "../rules/health-reads.ts";
import { historyOver } from "../rules/history-reads.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { over, RuleDatabase } from "./rule-database.ts";

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

export const runsWithoutJob = over(runsWithoutJobRule);
export const overdueRuns = over(overdueRule);
export const runsOfUnknownWorkers = over(unknownWorkersRule);
export const waitingRuns = over(waitingRule);

export const historyOf = (connection: Connection) => historyOver(new RuleDatabase(connection), driveAwaited);
