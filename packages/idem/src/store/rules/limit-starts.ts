// Limits on starts. Rate limit: at most so many in any period; the starts that still count are rows, so the answer is exact and says when
// room frees. Throttle: the starts of a lane are spaced; the row holds when the next one is due if all had come evenly.

import type { LaneCaps, LaneName } from "../../flow/lane.ts";
import type { RateRule } from "../../flow/rate-limit/plan.ts";
import { admitStart } from "../../flow/throttle/plan.ts";
import type { RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const earliestThatCountsSql =
  "select at from rate_starts where env = ? and id = ? order by stamp desc limit 1 offset ?";
const writeTatSql = `
  insert into throttles (env, id, tat) values (?, ?, ?) on conflict (env, id) do update set tat = excluded.tat`;

export const rateTurn = (env: string, id: string): string => `rate:${env}:${id}`;

/** When the next start is let in; null for now. */
export function* frees(tx: RuleTransaction, env: string, rule: RateRule): Rule<number | null> {
  yield* tx.turn(rateTurn(env, rule.id));
  const row = yield* tx.one<{ at: number }>(earliestThatCountsSql, env, rule.id, rule.limit - 1);
  if (row === undefined) return null;
  const freesAt = row.at + rule.periodMs;
  return freesAt > tx.at.now ? freesAt : null;
}

export function* countStart(tx: RuleTransaction, env: string, rule: RateRule, runId: string): Rule<void> {
  const { id, periodMs } = rule;
  yield* tx.find(tx.sql.rates.forget, { env, id, before: tx.at.now - periodMs });
  yield* tx.find(tx.sql.rates.count, { env, id, stamp: tx.stamp(), runId, at: tx.at.now });
}

/** Null when it may begin now, and then it is counted; else when it may. */
export function* admitted(
  tx: RuleTransaction,
  env: string,
  { throttle }: Pick<LaneName, "throttle">,
  caps: LaneCaps | undefined,
  now: number,
): Rule<number | null> {
  if (throttle === null || caps?.throttle == null) return null;
  const row = yield* tx.one<{ tat: number }>(tx.sql.throttles.find, env, throttle);
  const admission = admitStart(row?.tat ?? null, caps.throttle, now);
  if (admission.kind === "later") return admission.at;
  tx.write(writeTatSql, env, throttle, admission.tat);
  return null;
}
