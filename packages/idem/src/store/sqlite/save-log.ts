// Lines of a run's code, in the commit that makes them true. From the first of them on that would be too much, a run is full and
// keeps no more.
import { type NewLog, runLogBytesMax } from "../../model/log-line.ts";
import type { Transaction } from "./transaction.ts";

const roomSql = `
  select log_bytes as bytes from runs where env = :env and id = :run
     and not exists (select 1 from run_logs where env = :env and run_id = :run and part = :part)`;
const countSql = "update runs set log_bytes = ? where env = ? and id = ?";
const insertSql = "insert into run_logs (env, run_id, part, lines) values (?, ?, ?, ?)";

export function saveLog({ connection }: Transaction, env: string, runId: string, { part, text }: NewLog): void {
  const [run] = connection.find<{ bytes: number }>(roomSql, { env, run: runId, part });
  // Brought before, or full.
  if (run === undefined || run.bytes > runLogBytesMax) return;
  const bytes = run.bytes + Buffer.byteLength(text);
  connection.run(countSql, Math.min(bytes, runLogBytesMax + 1), env, runId);
  if (bytes <= runLogBytesMax) connection.run(insertSql, env, runId, part, text);
}
