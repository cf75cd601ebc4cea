// The outlook of events and runs, as /api shows it.
import { z } from "zod";
import { laneLimitKinds } from "../../flow/lane.ts";

export const pendingItem = z.object({
  function: z.string(),
  buffer: z
    .object({
      count: z.number().int(),
      max: z.number().int().nullable().describe("How many a batch takes; null for a debounce"),
      startsAt: z.number().int().describe("When its run starts: at the latest, or unless another event comes"),
      newestEventId: z.string().nullable().describe("Of a debounce: the event its run will start with"),
    })
    .nullable()
    .describe("Null where a person decides"),
});

export const lineItem = z.object({
  kind: z.enum(laneLimitKinds),
  limit: z.number(),
  periodMs: z.number().nullable(),
  key: z.string().nullable().describe("Its value for this run, as JSON; null for one limit on all"),
  scope: z.enum(["fn", "env", "account"]),
  temporary: z
    .object({ own: z.number(), until: z.number().int() })
    .nullable()
    .describe("While a person raised or lowered it: the function's own limit, and until when"),
  used: z.number().int().nullable().describe("How many runs at work hold it; null for a throttle"),
  waiting: z.number().int().describe("How many stand in line for it, this one included"),
});

export const cancelItem = z.object({
  event: z.string(),
  if: z.string().nullable(),
  until: z.number().int().nullable().describe("Until when it counts; null while the run is open"),
});
