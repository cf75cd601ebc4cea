// The last verdict on a function, in a few words.
import type { FunctionConfig } from "../model/function-config.ts";
import { type PublishedVerdict, verifiedCode, verifiedWith } from "../observe/published-verdicts.ts";
import { relative } from "./times.ts";

/** "HELD in 61 schedules, 2 d ago, code changed since" */
export function verdictWords(
  verdict: PublishedVerdict | undefined,
  config: FunctionConfig,
  { now, nameOf }: { readonly now: number; readonly nameOf: (fn: string) => string },
): string {
  const other = verifiedWith(config);
  if (other !== null) return `with ${nameOf(other)}`;
  if (verdict === undefined) return "never verified";
  const since = { same: "", changed: ", code changed since", unknown: ", for code nobody can name" };
  const { schedules, at } = verdict;
  const played = `in ${schedules} ${schedules === 1 ? "schedule" : "schedules"}`;
  return `${verdict.verdict} ${played}, ${relative(at, now)}${since[verifiedCode(verdict, config.fingerprint)]}`;
}
