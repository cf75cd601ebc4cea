// A function's backlog, as /api shows it.
import { z } from "zod";

export const lineNow = z.object({
  waiting: z.number().int().describe("Runs that could begin, or go on, if there were room and a worker"),
  oldestAt: z.number().int().nullable().describe("When the one that has waited longest was created"),
  atWork: z.number().int(),
  endsPerMinute: z.number().describe("Of the last ten minutes, or since this line began"),
  comePerMinute: z.number().nullable().describe("Of the last three minutes; null where there were too many to count"),
  emptyInMs: z
    .number()
    .int()
    .nullable()
    .describe(
      "About how long until nobody is in line, if it goes on so; null where nobody is, and where more come than end",
    ),
  behind: z
    .object({
      kind: z.enum(["concurrency", "throttle", "no-worker", "workers"]),
      limit: z.number().int().nullable(),
      periodMs: z.number().nullable(),
      key: z.string().nullable().describe("CEL over `event`: the limit is one for each value; null for one on all"),
    })
    .nullable()
    .describe("What those in line wait for"),
});
