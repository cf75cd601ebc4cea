// A limit that a person raised or lowered for a while. It stands in for one limit of a function's own configuration, by its key and scope, and
// ends by itself; docs/flow.md has the table of cases.
import type { ConcurrencyLimit } from "./config.ts";

export interface TemporaryLimit {
  readonly limit: number;
  /** Of the limit it stands in for. */
  readonly key: string | null;
  readonly scope: ConcurrencyLimit["scope"];
  /** [since, until) by the store's clock. */
  readonly since: number;
  readonly until: number;
}

/** Those of the text that a store keeps, the ended ones too. */
export const readTemporary = (text: string | null): readonly TemporaryLimit[] =>
  text === null ? [] : (JSON.parse(text) as TemporaryLimit[]);

export const isOf = (temporary: TemporaryLimit, { key, scope }: Pick<ConcurrencyLimit, "key" | "scope">): boolean =>
  temporary.key === key && temporary.scope === scope;

/** A function's limits at this instant: its own, but for those that another stands in for. */
export function limitsAt(
  own: readonly ConcurrencyLimit[],
  temporary: readonly TemporaryLimit[],
  now: number,
): readonly ConcurrencyLimit[] {
  const counting = temporary.filter(({ until }) => now < until);
  if (counting.length === 0) return own;
  return own.map((limit) => {
    const other = counting.find((each) => isOf(each, limit));
    return other === undefined ? limit : { ...limit, limit: other.limit, own: limit.limit, until: other.until };
  });
}
