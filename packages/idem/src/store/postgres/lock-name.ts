// What is counted or decided together takes turns: whoever comes second waits until the first has committed, and then reads what
// it left. A row of a table, not an advisory lock: it ends with its transaction, whatever pooler is between.
import type { Transaction } from "./transaction.ts";

const lockNamesSql = `
  insert into locks (name, at) select name, cast(:now as bigint) from unnest(cast(:names as text[])) as asked (name)
  on conflict (name) do update set at = excluded.at`;

export const lockName = (tx: Transaction, name: string): Promise<void> => lockNames(tx, [name]);

/** In the one order in which everybody locks them; those it has already are passed over. */
export async function lockNames(tx: Transaction, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names)].filter((name) => !tx.ahead.names.has(name)).sort();
  if (wanted.length === 0) return;
  await tx.connection.find(lockNamesSql, { now: tx.at.now, names: wanted });
  for (const name of wanted) tx.ahead.names.add(name);
}

export const slotLock = (slot: string): string => `slot:${slot}`;
