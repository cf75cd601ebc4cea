// How one function did over time, for its charts, by stretches of equal length: how runs ended and how long they took, from the store's
// counts; and how many had begun or stood in line, from the newest runs of the range. With more of those than are looked at, the older
// stretches lack them and it is said so.
import { z } from "zod";
import type { RunSummary } from "../../store/reads.ts";
import { type Ends, endsByStretch, sumEnds } from "../groups/ends.ts";

const bucketsMax = 61;
// A run's row is read in some 2 µs; more than this would hold up commits.
export const chartedRunsMax = 5_000;

export const functionCharts = z.object({
  since: z.number().int(),
  until: z.number().int(),
  bucketMs: z.number().int(),
  from: z
    .number()
    .int()
    .describe("`begun` and `due` of stretches before it are too low: there were too many runs to look at"),
  buckets: z.array(
    z.object({
      at: z.number().int().describe("When it begins"),
      completed: z.number().int(),
      failed: z.number().int(),
      cancelled: z.number().int(),
      p50Ms: z.number().nullable().describe("From start to end, waits included; null when no run ended"),
      p95Ms: z.number().nullable(),
      begun: z.number().int().describe("Runs that had begun and not ended, at its end"),
      due: z.number().int().describe("Runs that had not begun, at its end"),
    }),
  ),
});
export type FunctionCharts = z.infer<typeof functionCharts>;

/** `runs`: the newest, of which it is counted how many had begun or stood in line; `isAll`: there are no more of them. */
export function chartsOf(ends: Ends, runs: readonly RunSummary[], isAll: boolean): FunctionCharts {
  const { since, until } = ends;
  const { bucketMs, stretches } = endsByStretch(ends, bucketsMax);
  const from = isAll ? since : Math.max(since, runs.at(-1)?.createdAt ?? since);
  const buckets = stretches.map(({ at, counts }) => {
    const end = Math.min(at + bucketMs, until);
    const { ended: _, ...sum } = sumEnds(counts);
    return {
      at,
      ...sum,
      begun: runs.filter(
        (run) => run.startedAt !== null && run.startedAt < end && (run.endedAt ?? Number.POSITIVE_INFINITY) >= end,
      ).length,
      due: runs.filter(
        (run) => run.createdAt < end && (run.startedAt ?? run.endedAt ?? Number.POSITIVE_INFINITY) >= end,
      ).length,
    };
  });
  return { since, until, bucketMs, from, buckets };
}
