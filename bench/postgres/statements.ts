// The server's time by statement. Counting them costs every statement a little, so it is done in a measurement of its own.
import { type Measured, type Measurement, measure } from "./measured.ts";
import { type BenchServer, trackStatements } from "./server.ts";

export interface StatementCost {
  readonly text: string;
  readonly callsPerRun: number;
  readonly usPerCall: number;
  readonly usPerRun: number;
  readonly walBytesPerRun: number;
}

export interface Profile {
  readonly perSecond: number;
  /** Execution time of all statements, waits included, microseconds per run. */
  readonly statementUs: number;
  readonly statements: readonly StatementCost[];
}

const topSql = `
  select s.query as text, s.calls::float8 as calls, s.total_exec_time * 1000 as us, s.wal_bytes::float8 as wal
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
   where d.datname = $1 order by s.total_exec_time desc`;

const shown = 15;

export async function profileStatements(server: BenchServer, measurement: Measurement): Promise<Profile> {
  const { admin } = server;
  await admin.query("select pg_stat_statements_reset()");
  await trackStatements(admin, true);
  let measured: Measured;
  try {
    measured = await measure(server, measurement);
  } finally {
    await trackStatements(admin, false);
  }
  const { rows } = await admin.query<{ text: string; calls: number; us: number; wal: number }>(topSql, [
    measurement.database,
  ]);
  const { allRuns } = measured;
  return {
    perSecond: measured.perSecond,
    statementUs: rows.reduce((sum, { us }) => sum + us, 0) / allRuns,
    statements: rows.slice(0, shown).map(({ text, calls, us, wal }) => ({
      text: text.replace(/\s+/g, " ").trim().slice(0, 160),
      callsPerRun: calls / allRuns,
      usPerCall: us / calls,
      usPerRun: us / allRuns,
      walBytesPerRun: wal / allRuns,
    })),
  };
}
