// A function's charts, by stretches of equal length: how runs ended and how long they took, from the store's counts; and how many had begun
// or stood in line, from the newest runs of the range. With more of those than are looked at, the older stretches lack them, and the answer
// says so.
import { z } from "zod";
import type { RunSummary } from "../../store/reads.ts";
import { type Ends, endsByStretch, sumEnds } from "../groups/ends.ts";

const bucketsMax = 61;
// Some 5 ms of reading: commits of others wait meanwhile.
export const chartedRunsMax = 2_000;

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
export function chartsOf(counted: Ends, runs: readonly RunSummary[], isAll: boolean): FunctionCharts {
  const { since, until } = counted;
  const { bucketMs, stretches } = endsByStretch(counted, bucketsMax);
  const from = isAll ? since : Math.max(since, runs.at(-1)?.createdAt ?? since);
  // A run has begun, or stands in line, at the ends of one stretch after the other.
  const ends = stretches.map(({ at }) => Math.min(at + bucketMs, until));
  const [begun, due] = [ends.map(() => 0), ends.map(() => 0)];
  const countIn = (counts: number[], from: number, to: number): void => {
    for (let i = Math.max(0, Math.floor((from - since) / bucketMs)); i < ends.length && ends[i]! <= to; i++)
      if (ends[i]! > from) counts[i]! += 1;
  };
  for (const { createdAt, startedAt, endedAt } of runs) {
    const goneAt = endedAt ?? Number.POSITIVE_INFINITY;
    countIn(due, createdAt, startedAt ?? goneAt);
    if (startedAt !== null) countIn(begun, startedAt, goneAt);
  }
  const buckets = stretches.map(({ at, counts }, i) => {
    const { ended: _, ...sum } = sumEnds(counts);
    return { at, ...sum, begun: begun[i]!, due: due[i]! };
  });
  return { since, until, bucketMs, from, buckets };
}
