import type { Transaction } from "./transaction.ts";

const lockTatsSql = `
  insert into throttles (env, id, tat)
  select env, id, 0 from unnest(cast(:envs as text[]), cast(:ids as text[])) as asked (env, id)
  on conflict (env, id) do update set tat = throttles.tat`;

/** Several, in the one order in which everybody locks them. */
export async function lockThrottles(
  tx: Transaction,
  throttles: readonly { readonly env: string; readonly id: string }[],
): Promise<void> {
  if (throttles.length === 0) return;
  const byName = new Map(throttles.map((throttle) => [JSON.stringify([throttle.env, throttle.id]), throttle]));
  const inOrder = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, throttle]) => throttle);
  const params = { envs: inOrder.map(({ env }) => env), ids: inOrder.map(({ id }) => id) };
  await tx.connection.find(lockTatsSql, params);
}
