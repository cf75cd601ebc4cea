// Bulk work as /api shows and takes it.
import { z } from "zod";
import { bulkActions, leftOutReasons } from "../../engine/bulk/left-out.ts";
import { runStates } from "../../model/run.ts";
import type { BulkProgress } from "../bulk-progress.ts";
import { instantText } from "../read-input.ts";

// As many as a person ticks by hand; more than that is a filter.
const runsNamedMax = 500;

export const bulkFilter = z
  .strictObject({
    function: z.string().min(1).max(256).optional(),
    state: z.enum(runStates).optional(),
    key: z.string().min(1).max(2_048).optional().describe("With function"),
    event: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe("Opened by this event, by its stored id, or by events of this name"),
    runs: z
      .array(z.string().min(1).max(64))
      .min(1)
      .max(runsNamedMax)
      .optional()
      .describe("Exactly these runs, as far as the rest fits them"),
    q: z.string().min(1).max(200).optional().describe("Text in key, function, name of the event, or an id"),
    since: instantText.optional(),
    until: instantText.optional(),
    endedSince: instantText.optional().describe("Only runs that ended then or later, as the list of runs counts it"),
    endedUntil: instantText.optional(),
    if: z.string().min(1).max(4_096).optional().describe("CEL over `event` and `output`: only runs that fit"),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), "it must name at least one criterion")
  .refine(({ key, function: fn }) => key === undefined || fn !== undefined, "key needs function beside it");

export const leftOutItem = z
  .array(
    z.object({
      why: z.enum(leftOutReasons),
      count: z.number().int(),
      runIds: z.array(z.string()).describe("The first ones"),
    }),
  )
  .describe("Runs that fit and are not touched: each with why");

export const bulkItem = z.object({
  id: z.string(),
  action: z.enum(bulkActions).nullable().describe("Null when the process that knew is gone"),
  filter: z.looseObject({}),
  reason: z.string(),
  state: z
    .enum(["running", "completed", "cancelled", "failed", "interrupted"])
    .describe(
      "`failed` did not get to the end: send the same request again to go on; with `interrupted` a process of the server goes on by itself",
    ),
  matchedCount: z.number().int().describe("Runs that fit so far; final once the state is"),
  doneCount: z.number().int(),
  skippedCount: z.number().int().describe("Left out, for one of the reasons in `leftOut`"),
  leftOut: leftOutItem,
  outcomes: z
    .array(z.object({ state: z.enum(runStates), count: z.number().int(), runIds: z.array(z.string()) }))
    .nullable()
    .describe("Of a rerun: what became of the runs it made, as far as this process knows"),
  pace: z.number().int().nullable().describe("How many runs a second at most"),
  failedCount: z.number().int(),
  failures: z.array(z.object({ runId: z.string(), error: z.string() })).describe("The first ones"),
  error: z.string().nullable(),
  startedAt: z.number().int(),
  endedAt: z.number().int().nullable(),
});

export const bulkItemOf = (progress: BulkProgress): z.infer<typeof bulkItem> => {
  const { fn, eventId, eventName, ids, ...filter } = progress.filter;
  const event = eventId ?? eventName;
  return {
    ...progress,
    filter: {
      ...filter,
      ...(fn === undefined ? {} : { function: fn }),
      ...(event === undefined ? {} : { event }),
      ...(ids === undefined ? {} : { runs: ids }),
    },
    failures: [...progress.failures],
    leftOut: progress.leftOut.map(({ runIds, ...each }) => ({ ...each, runIds: [...runIds] })),
    outcomes: progress.outcomes?.map(({ runIds, ...each }) => ({ ...each, runIds: [...runIds] })) ?? null,
  };
};
