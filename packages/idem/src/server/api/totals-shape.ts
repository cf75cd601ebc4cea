// The numbers over a list of runs, as /api shows them: they add up, and say as of when.
import { z } from "zod";
import { dayMs } from "../../model/window.ts";
import { bucketsMax, type Tally, type TallyRange } from "../groups/tally.ts";
import { addUp } from "../groups/totals.ts";
import { readInstant } from "../read-input.ts";

const counts = {
  asked: z.number().int().describe("first + suppressed + slipped"),
  first: z.number().int().describe("Runs that were the first of their key"),
  suppressed: z.number().int().describe("Duplicates that were answered with an earlier run"),
  slipped: z.number().int().describe("Runs that ran again though nobody asked for it"),
};

export const totalsItem = z.object({
  asOf: z.number().int().describe("When it was read, by the store's clock"),
  since: z.number().int().describe("Where the first bucket begins: up to a bucket before what was asked for"),
  until: z.number().int(),
  ...counts,
  doubledKeys: z.number().int().describe("In how many groups something slipped through"),
  functions: z.array(z.object({ function: z.string(), ...counts })),
  bucketMs: z.number().int(),
  buckets: z.array(z.object({ at: z.number().int(), ...counts })).describe(`At most ${bucketsMax + 1}, empty ones too`),
  isAll: z.boolean().describe("False while there is more than could be counted now"),
});
export type TotalsItem = z.infer<typeof totalsItem>;

/** The last 7 days by default. */
export function totalsRange(
  { since, until, fn }: { readonly [Name in "since" | "until" | "fn"]?: string | undefined },
  now: number,
): TallyRange {
  const to = until === undefined ? now + 1 : readInstant("until", until, now);
  const from = since === undefined ? now - 7 * dayMs : readInstant("since", since, now);
  return { since: Math.min(from, to - 1), until: to, ...(fn === undefined ? {} : { fn }) };
}

export function tellTotals(tally: Tally, now: number): TotalsItem {
  const { total, byFunction, buckets, doubledKeys } = addUp(tally);
  const byName = [...byFunction].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    asOf: now,
    since: tally.from,
    until: tally.until,
    ...total,
    doubledKeys,
    functions: byName.map(([fn, some]) => ({ function: fn, ...some })),
    bucketMs: tally.bucketMs,
    buckets: [...buckets],
    isAll: tally.isAll,
  };
}
