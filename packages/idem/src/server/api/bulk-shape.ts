// Bulk work as /api shows and takes it.
import { z } from "zod";
import type { BulkProgress } from "../bulk-work.ts";
import { instantText } from "../read-input.ts";
import { runStates } from "./run-shape.ts";

export const bulkFilter = z
  .strictObject({
    function: z.string().min(1).max(256).optional(),
    state: z.enum(runStates).optional(),
    key: z.string().min(1).max(2_048).optional().describe("With function"),
    event: z.string().min(1).max(64).optional().describe("Opened by this event, by its stored id"),
    since: instantText.optional(),
    until: instantText.optional(),
    if: z.string().min(1).max(4_096).optional().describe("CEL over `event`: only runs whose event fits"),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), "it must name at least one criterion")
  .refine(({ key, function: fn }) => key === undefined || fn !== undefined, "key needs function beside it");

export const bulkItem = z.object({
  id: z.string(),
  action: z.enum(["cancel", "rerun"]).nullable().describe("Null when the process that knew is gone"),
  filter: z.looseObject({}),
  reason: z.string(),
  state: z
    .enum(["running", "completed", "cancelled", "failed", "interrupted", "elsewhere"])
    .describe(
      "`failed` and `interrupted` did not get to the end: send the same request again to go on; of `elsewhere` another node knows more",
    ),
  matchedCount: z.number().int().describe("Runs that fit so far; final once the state is"),
  doneCount: z.number().int(),
  skippedCount: z.number().int().describe("Nothing was left to do: the run had ended meanwhile"),
  failedCount: z.number().int(),
  failures: z.array(z.object({ runId: z.string(), error: z.string() })).describe("The first ones"),
  error: z.string().nullable(),
  startedAt: z.number().int(),
  endedAt: z.number().int().nullable(),
});

export const bulkItemOf = (progress: BulkProgress): z.infer<typeof bulkItem> => {
  const { fn, eventId, ...filter } = progress.filter;
  return {
    ...progress,
    filter: {
      ...filter,
      ...(fn === undefined ? {} : { function: fn }),
      ...(eventId === undefined ? {} : { event: eventId }),
    },
    failures: [...progress.failures],
  };
};
