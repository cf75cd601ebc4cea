// One event is stored. For many calls at once that is done ahead of them (ingest-batch.ts).
import type { NewEvent } from "../ingest.ts";
import { inEnv, type Transaction } from "./transaction.ts";

const insertEventSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, id) do nothing`;

/** Whether it was not there before. Waits for whoever is storing it just now. */
export async function storeEvent(tx: Transaction, env: string, event: NewEvent): Promise<boolean> {
  const { id, callerId, name, data, ts, extra, sourceRunId } = event;
  const stored = [env, id, callerId, name, data, ts, extra, tx.at.now, tx.stamp(), sourceRunId];
  return (await tx.connection.run(insertEventSql, ...stored)) > 0;
}

/** The same, where it may have been stored ahead. */
export async function storeInTurn(tx: Transaction, env: string, event: NewEvent): Promise<boolean> {
  const ahead = inEnv(env, event.id);
  const isNew = tx.ahead.events.get(ahead) ?? (await storeEvent(tx, env, event));
  // Twice in one transaction: the second time it is there.
  tx.ahead.events.set(ahead, false);
  return isNew;
}
