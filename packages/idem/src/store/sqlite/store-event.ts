// An event, and whether anybody waits for such.
import type { NewEvent, NewPair, StartPair } from "../ingest.ts";
import type { Transaction } from "./transaction.ts";

const insertEventSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id, starts)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, id) do nothing`;

const someoneWaitsSql = "select 1 from waits indexed by waits_by_event where env = ? and event_name = ? limit 1";
const somethingCancelsSql =
  "select 1 from cancels indexed by cancels_by_event where env = ? and event_name = ? limit 1";

/** Whether it was not there before. */
export function storeEvent(tx: Transaction, env: string, event: NewEvent, pairs: readonly NewPair[]): boolean {
  const inserted = tx.connection.run(
    insertEventSql,
    env,
    event.id,
    event.callerId,
    event.name,
    event.data,
    event.ts,
    event.extra,
    tx.at.now,
    tx.stamp(),
    event.sourceRunId,
    startsOf(pairs),
  );
  return inserted > 0;
}

/** Whether a run it starts now says all there is to say about it: no decision is kept beside it (docs/decisions/0055). */
export const isToldByRun = (pair: NewPair): pair is StartPair =>
  pair.kind === "start" && pair.reason === null && (pair.flow === null || pair.flow.buffer === null);

function startsOf(pairs: readonly NewPair[]): string | null {
  const told = pairs.filter(isToldByRun);
  return told.length === 0 ? null : JSON.stringify(told.map(({ runId }) => runId));
}

export function isAwaited({ connection, known }: Transaction, env: string, eventName: string): boolean {
  if (!known.mayBeAwaited(env, eventName)) return false;
  const someone =
    connection.one(someoneWaitsSql, env, eventName) !== undefined ||
    connection.one(somethingCancelsSql, env, eventName) !== undefined;
  if (!someone) known.noteUnawaited(env, eventName);
  return someone;
}
