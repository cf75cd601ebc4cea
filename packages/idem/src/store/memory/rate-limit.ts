// At most so many starts in any period. The times of those that count are kept, so the answer is exact.
import type { RateRule } from "../../flow/rate-limit/plan.ts";
import type { Moment, Tables } from "./tables.ts";

/** When the next start is let in; null for now. A start at t counts until t + period. */
export function freesAt(tables: Tables, at: Moment, rule: RateRule): number | null {
  const counting = startsThatCount(tables, at, rule);
  const last = counting.at(-rule.limit);
  return last === undefined ? null : last + rule.periodMs;
}

export function countStart(tables: Tables, at: Moment, rule: RateRule): void {
  tables.rateStarts.put(rule.id, [...startsThatCount(tables, at, rule), at.now]);
}

const startsThatCount = (tables: Tables, at: Moment, { id, periodMs }: RateRule): number[] =>
  (tables.rateStarts.get(id) ?? []).filter((start) => start + periodMs > at.now);
