// Lines of a run's code, in the commit that makes them true: one statement that nobody waits for. From the first of them on that would
// be too much, a run is full and keeps no more.
import { type NewLog, runLogBytesMax } from "../../model/log-line.ts";
import type { AdvanceInput } from "../advance.ts";
import type { Transaction } from "./transaction.ts";

// The run's job is locked: nobody else brings lines of it.
const saveLogSql = `
  with counted as (
    update runs set log_bytes = least(log_bytes + cast(? as bigint), ${runLogBytesMax + 1})
     where env = ? and id = ? and log_bytes <= ${runLogBytesMax}
       and not exists (select 1 from run_logs where env = ? and run_id = ? and part = ?)
    returning env, id, log_bytes)
  insert into run_logs (env, run_id, part, lines)
  select env, id, cast(? as text), cast(? as text) from counted where log_bytes <= ${runLogBytesMax}
  on conflict (env, run_id, part) do nothing`;

export function saveLog({ connection }: Transaction, env: string, runId: string, { part, text }: NewLog): void {
  connection.write(saveLogSql, Buffer.byteLength(text), env, runId, env, runId, part, part, text);
}

/** Of many at once: what each brings, as columns. */
export const logColumns = (given: readonly { readonly input: AdvanceInput }[]) => ({
  parts: given.map(({ input }) => input.log?.part ?? null),
  lines: given.map(({ input }) => input.log?.text ?? null),
  bytes: given.map(({ input }) => (input.log == null ? null : Buffer.byteLength(input.log.text))),
});
