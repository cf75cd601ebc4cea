// Starts of a throttled lane are spaced. The row holds when the next one is due if all had come evenly.
import { admitStart, type LaneCaps } from "../../model/lane.ts";
import type { Transaction } from "./transaction.ts";

const selectTatSql = "select tat from throttles where env = ? and id = ?";
const writeTatSql = `
  insert into throttles (env, id, tat) values (?, ?, ?) on conflict (env, id) do update set tat = excluded.tat`;

/** Null when it may begin now, and then it is counted; else when it may. */
export function admitted(
  tx: Transaction,
  env: string,
  throttle: string | null,
  caps: LaneCaps | undefined,
  now: number,
): number | null {
  if (throttle === null || caps?.throttle == null) return null;
  const row = tx.connection.one<{ tat: number }>(selectTatSql, env, throttle);
  const admission = admitStart(row?.tat ?? null, caps.throttle, now);
  if (admission.kind === "later") return admission.at;
  tx.connection.run(writeTatSql, env, throttle, admission.tat);
  return null;
}
