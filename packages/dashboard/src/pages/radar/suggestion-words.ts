// Reasons against a key: one that would have swallowed another amount is not offered.
import { namesAmount } from "../../../../idem/src/radar/fields.ts";
import { lastName } from "./alert-words.ts";
import type { Suggestion } from "./radar-data.ts";

/** Differences no key may swallow. */
export function doubtsOf({ expression, differs }: Suggestion): readonly string[] {
  if (expression === null) return [];
  const amounts = [...new Set(differs.map(lastName).filter(namesAmount))];
  return amounts.length === 0
    ? []
    : [`${expression} would have suppressed runs with another ${amounts.join(" and another ")} than their first run.`];
}
