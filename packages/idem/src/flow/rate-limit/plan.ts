// The surplus is refused.
import { instant } from "../../model/decision.ts";
import { lengthText } from "../../model/length-text.ts";
import { everyone, type FlowOf, type OwnKey } from "../plan-keys.ts";

/** At most `limit` runs in any `periodMs`; the surplus is refused. */
export interface RateRule {
  readonly id: string;
  readonly limit: number;
  readonly periodMs: number;
}

export function planRateLimit({ fn, config: { rateLimit } }: FlowOf, ownKey: OwnKey): RateRule | null {
  if (rateLimit === undefined) return null;
  const key = ownKey("rateLimit.key", rateLimit.key);
  if (key === null) return null;
  const { limit, periodMs } = rateLimit;
  return { id: key === everyone ? fn : `${fn} ${key}`, limit, periodMs };
}

export const rateLimited = (rule: RateRule, freesAt: number): string => {
  const runs = rule.limit === 1 ? "1 run" : `${rule.limit} runs`;
  return `at most ${runs} in ${lengthText(rule.periodMs)} for ${rule.id}; frees at ${instant(freesAt)}`;
};
