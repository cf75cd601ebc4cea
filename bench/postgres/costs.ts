// The cost of runs to the server, from its own counters: commits, log, rows and bytes by table. Read before an engine's processes start and
// after they ended, when no session holds counters back any more, and divided by all runs between.
import type { BenchServer } from "./server.ts";

interface TableCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Of the updated: those that touched no index. */
  readonly hot: number;
  readonly deleted: number;
  readonly heapBytes: number;
  readonly indexBytes: number;
}

interface Counters {
  readonly commits: number;
  readonly rollbacks: number;
  readonly deadlocks: number;
  readonly walBytes: number;
  readonly walRecords: number;
  readonly walPageImages: number;
  readonly walSyncs: number;
  readonly tableReadBytes: number;
  readonly tableWriteBytes: number;
}

export interface Reading {
  readonly counters: Counters;
  readonly tables: ReadonlyMap<string, TableCounts>;
}

export interface Costs extends Counters {
  /** By table, those that were written. */
  readonly tables: Readonly<Record<string, TableCounts>>;
  /** Bytes that stay: the tables rows are added to, with their indexes, but not those that rows pass through. */
  readonly storedBytes: number;
  readonly rowWrites: number;
}

// The log and its syncs are the server's, the rest is this database's; nothing else runs meanwhile.
const countersSql = `
  select d.xact_commit::float8 as commits, d.xact_rollback::float8 as rollbacks, d.deadlocks::float8 as deadlocks,
         (pg_current_wal_insert_lsn() - '0/0')::float8 as "walBytes",
         w.wal_records::float8 as "walRecords", w.wal_fpi::float8 as "walPageImages",
         io.wal_syncs as "walSyncs", io.reads as "tableReadBytes", io.writes as "tableWriteBytes"
    from pg_stat_database d, pg_stat_wal w,
         (select coalesce(sum(fsyncs) filter (where object = 'wal'), 0)::float8 as wal_syncs,
                 coalesce(sum(read_bytes) filter (where object = 'relation'), 0)::float8 as reads,
                 coalesce(sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) filter (where object = 'relation'), 0)::float8
                   as writes
            from pg_stat_io) io
   where d.datname = $1`;

const tablesSql = `
  select schemaname || '.' || relname as name, n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated,
         n_tup_hot_upd::float8 as hot, n_tup_del::float8 as deleted,
         pg_table_size(relid)::float8 as "heapBytes", pg_indexes_size(relid)::float8 as "indexBytes"
    from pg_stat_user_tables`;

export async function takeReading({ admin, inside }: BenchServer, database: string): Promise<Reading> {
  await sessionsEnded(admin, database);
  const { rows: counters } = await admin.query<Counters>(countersSql, [database]);
  const { rows } = await inside(database, (client) => client.query<TableCounts & { name: string }>(tablesSql));
  return { counters: counters[0]!, tables: new Map(rows.map(({ name, ...counts }) => [name, counts])) };
}

/** Counters of a session are complete once it is gone, which is a moment after its client is. */
async function sessionsEnded(admin: BenchServer["admin"], database: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const { rows } = await admin.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [database],
    );
    if (rows[0]!.count === 0) return;
    if (performance.now() > deadline) throw new Error(`${rows[0]!.count} sessions stay in ${database}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Per run. */
export function costsOf(before: Reading, after: Reading, runs: number): Costs {
  const perRun = (a: number, b: number): number => (b - a) / runs;
  const counters = Object.fromEntries(
    Object.entries(after.counters).map(([name, value]) => [
      name,
      perRun(before.counters[name as keyof Counters], value),
    ]),
  ) as unknown as Counters;
  const nothing = { inserted: 0, updated: 0, hot: 0, deleted: 0, heapBytes: 0, indexBytes: 0 };
  const tables: Record<string, TableCounts> = {};
  for (const [name, counts] of after.tables) {
    const earlier = before.tables.get(name) ?? nothing;
    const each = Object.fromEntries(
      Object.entries(counts).map(([what, value]) => [what, perRun(earlier[what as keyof TableCounts], value)]),
    ) as unknown as TableCounts;
    // Tables that a whole round wrote a handful of times are no cost of a run.
    if (each.inserted + each.updated + each.deleted >= 0.01) tables[name] = each;
  }
  const sum = (of: (counts: TableCounts) => number) => Object.values(tables).reduce((all, each) => all + of(each), 0);
  const stays = ({ inserted, deleted }: TableCounts): boolean => inserted - deleted > inserted / 2;
  return {
    ...counters,
    tables,
    storedBytes: sum((each) => (stays(each) ? each.heapBytes + each.indexBytes : 0)),
    rowWrites: sum(({ inserted, updated, deleted }) => inserted + updated + deleted),
  };
}
