// The slots a run takes while it is at work.
import type { Expressions } from "../../model/expression.ts";
import { type FlowOf, sharedKeyOf } from "../plan-keys.ts";
import type { ConcurrencyLimit } from "./config.ts";

/** Their names, in the order of the limits. */
export function planSlots(of: FlowOf, payload: unknown, expressions: Expressions): string[] {
  const { env, fn, config } = of;
  return (config.concurrency ?? []).map((limit, i) =>
    slotName(env, fn, limit, i, sharedKeyOf(of, "concurrency.key", limit.key, payload, expressions)),
  );
}

function slotName(env: string, fn: string, { scope }: ConcurrencyLimit, position: number, key: string): string {
  if (scope === "account") return `account ${key}`;
  if (scope === "env") return `env ${env} ${key}`;
  return `fn ${env} ${fn} ${position} ${key}`;
}
