// What is counted or decided together takes turns: whoever comes second waits until the first has committed, and then reads what
// it left. A row of a table, not an advisory lock: it ends with its transaction, whatever pooler is between.
import type { Transaction } from "./transaction.ts";

const lockNameSql = `
  insert into locks (name, at) values (?, ?) on conflict (name) do update set at = excluded.at`;

export async function lockName(tx: Transaction, name: string): Promise<void> {
  await tx.connection.run(lockNameSql, name, tx.at.now);
}

export const rateLock = (env: string, id: string): string => `rate:${env}:${id}`;
export const slotLock = (slot: string): string => `slot:${slot}`;
export const registrationLock = (env: string): string => `registration:${env}`;
