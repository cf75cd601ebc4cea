// An event arrived for runs that wait: which of them does it wake? The store narrows by name and one equality,
// this decides the rest.
import { type Expressions, evaluateFilter } from "../model/expression.ts";
import { canonicalJson } from "../model/json.ts";
import { valueAt } from "../model/path.ts";
import type { WaitCandidate } from "../store/store.ts";

/** What to look up for each path in use. A value that is missing equals nothing, so it is not looked up at all. */
export function probesOf(payload: unknown, paths: readonly string[]): { path: string; value: string }[] {
  return paths.flatMap((path) => {
    const value = path === "" ? null : valueAt(payload, path);
    return value === null ? [] : [{ path, value: canonicalJson(value) }];
  });
}

export function wokenBy(
  payload: unknown,
  candidates: readonly WaitCandidate[],
  payloadOfRun: (candidate: WaitCandidate) => unknown,
  expressions: Expressions,
): WaitCandidate[] {
  return candidates.filter((candidate) => {
    if (candidate.rest === null) return true;
    const scope = { event: payloadOfRun(candidate), async: payload };
    return evaluateFilter(expressions.get(candidate.rest), scope).pass;
  });
}
