// How one function did over time, for its charts: outcomes, run times, and how many runs had begun or stood in line, by stretches of equal
// length. Counted from the newest runs of the range; with more than are looked at, the older stretches are missing and it is said so.
import { z } from "zod";
import type { RunSummary } from "../../store/reads.ts";

const bucketCount = 56;
// A run's row is read in some 2 µs; more than this would hold up commits.
export const chartedRunsMax = 5_000;

export const functionCharts = z.object({
  since: z.number().int(),
  until: z.number().int(),
  bucketMs: z.number().int(),
  from: z.number().int().describe("Stretches before it were not looked at: there were too many runs"),
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
  dueSince: z
    .number()
    .int()
    .nullable()
    .describe("Since when the run that stands in line longest does; null when none does"),
});
export type FunctionCharts = z.infer<typeof functionCharts>;

export function chartsOf(
  runs: readonly RunSummary[],
  range: { since: number; until: number },
  isAll: boolean,
): FunctionCharts {
  const { since, until } = range;
  const bucketMs = Math.max(1, Math.ceil((until - since) / bucketCount));
  const from = isAll ? since : (runs.at(-1)?.createdAt ?? since);
  const buckets = Array.from({ length: bucketCount }, (_, i) => {
    const at = since + i * bucketMs;
    const end = Math.min(at + bucketMs, until);
    const ended = runs.filter(({ endedAt }) => endedAt !== null && endedAt >= at && endedAt < end);
    const took = ended
      .flatMap(({ startedAt, endedAt }) => (startedAt === null ? [] : endedAt! - startedAt))
      .sort((a, b) => a - b);
    const count = (state: RunSummary["state"]) => ended.filter((run) => run.state === state).length;
    return {
      at,
      completed: count("completed"),
      failed: count("failed"),
      cancelled: count("cancelled"),
      p50Ms: shareOf(took, 0.5),
      p95Ms: shareOf(took, 0.95),
      begun: runs.filter(
        (run) => run.startedAt !== null && run.startedAt < end && (run.endedAt ?? Number.POSITIVE_INFINITY) >= end,
      ).length,
      due: runs.filter(
        (run) => run.createdAt < end && (run.startedAt ?? run.endedAt ?? Number.POSITIVE_INFINITY) >= end,
      ).length,
    };
  });
  const inLine = runs
    .filter(({ state, startedAt }) => state === "queued" && startedAt === null)
    .map(({ createdAt }) => createdAt);
  return { since, until, bucketMs, from, buckets, dueSince: inLine.length === 0 ? null : Math.min(...inLine) };
}

const shareOf = (took: readonly number[], share: number): number | null =>
  took.length === 0 ? null : took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
