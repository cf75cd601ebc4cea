// What speaks for a key, and what speaks against it. A key that would have swallowed another amount is not offered.
import { lastName } from "./alert-words.ts";
import type { Suggestion } from "./radar-data.ts";

const amount = /(amount|total|price|rate|cost|sum|fee|quantity|qty|hours|cents|net|gross|tax|salary|balance)$/i;

/** Differences no key may swallow. */
export function doubtsOf({ expression, differs }: Suggestion): readonly string[] {
  if (expression === null) return [];
  const amounts = [...new Set(differs.map(lastName).filter((name) => amount.test(name)))];
  return amounts.length === 0
    ? []
    : [`${expression} would have suppressed runs with another ${amounts.join(" and another ")} than their first run.`];
}

export function evidenceOf({ runCount, suppressedCount, presentCount, differs }: Suggestion): readonly string[] {
  const names = [...new Set(differs.map(lastName))];
  const shown = names.slice(0, 3).join(", ");
  return [
    `It would have suppressed ${suppressedCount} of ${runCount} ${runCount === 1 ? "run" : "runs"} in 7 days.`,
    names.length === 0
      ? `None of the ${suppressedCount} had other data than its first run.`
      : `The ${suppressedCount} differed from their first run in ${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ""} only; no amount differed.`,
    presentCount === runCount
      ? `The field was there in all ${runCount} runs.`
      : `The field was there in ${presentCount} of ${runCount} runs. Runs without it would start as they do now.`,
  ];
}
