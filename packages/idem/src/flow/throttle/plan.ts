// Spaces the starts of runs.
import type { Expressions } from "../../model/expression.ts";
import { type FlowOf, sharedKeyOf } from "../plan-keys.ts";
import type { ThrottleConfig } from "./config.ts";

export interface ThrottleRule {
  readonly limit: number;
  readonly periodMs: number;
  /** Starts allowed at once. */
  readonly burst: number;
}

/** Its name; null where nothing spaces the start. */
export function planThrottle(of: FlowOf, payload: unknown, expressions: Expressions): string | null {
  const { throttle } = of.config;
  if (throttle === undefined) return null;
  return `${of.fn} ${sharedKeyOf(of, "throttle.key", throttle.key, payload, expressions)}`;
}

export const throttleRule = (config: ThrottleConfig | undefined): ThrottleRule | null =>
  config === undefined ? null : { limit: config.limit, periodMs: config.periodMs, burst: config.burst };

export type Admission =
  | { readonly kind: "now" /** The new state to keep. */; readonly tat: number }
  | { readonly kind: "later"; readonly at: number };

/**
 * GCRA: starts are `period / limit` apart, and up to `burst` of them may come early. `tat` is when the next start is due if all
 * that began had come evenly; null when nothing has begun yet.
 */
export function admitStart(tat: number | null, rule: ThrottleRule, now: number): Admission {
  const spacing = rule.periodMs / rule.limit;
  const due = Math.max(tat ?? now, now);
  const earliest = due - spacing * (rule.burst - 1);
  return earliest > now ? { kind: "later", at: Math.ceil(earliest) } : { kind: "now", tat: due + spacing };
}
