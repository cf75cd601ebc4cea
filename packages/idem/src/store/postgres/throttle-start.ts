// Starts of a throttled lane are spaced. The row holds when the next one is due if all had come evenly.
import { admitStart, type LaneCaps } from "../../model/lane.ts";
import type { Transaction } from "./transaction.ts";

// A row is made where there is none, so that two who ask at once take turns.
const lockTatSql = `
  insert into throttles (env, id, tat) values (?, ?, 0)
  on conflict (env, id) do update set tat = throttles.tat returning tat`;
const lockTatsSql = `
  insert into throttles (env, id, tat)
  select env, id, 0 from unnest(cast(:envs as text[]), cast(:ids as text[])) as asked (env, id)
  on conflict (env, id) do update set tat = throttles.tat`;
const writeTatSql = "update throttles set tat = ? where env = ? and id = ?";

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

/** Null when it may begin now, and then it is counted; else when it may. */
export async function admitted(
  tx: Transaction,
  env: string,
  throttle: string | null,
  caps: LaneCaps | undefined,
  now: number,
): Promise<number | null> {
  if (throttle === null || caps?.throttle == null) return null;
  const row = await tx.connection.one<{ tat: number }>(lockTatSql, env, throttle);
  const admission = admitStart(row!.tat, caps.throttle, now);
  if (admission.kind === "later") return admission.at;
  await tx.connection.run(writeTatSql, admission.tat, env, throttle);
  return null;
}
