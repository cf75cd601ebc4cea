// One message of /api/live.
import { z } from "zod";

export const liveDigest = z.object({
  at: z.number().int().describe("By the store's clock"),
  counts: z
    .object({
      accepted: z.number().int().describe("Events"),
      started: z.number().int().describe("Runs"),
      suppressed: z.number().int().describe("Duplicates that were answered with an earlier run"),
      ended: z.number().int().describe("Runs, however they ended"),
      failed: z.number().int().describe("Of the ended runs"),
    })
    .describe("Since the digest before, in the process that answers"),
  groups: z.array(z.string()).describe("Groups that changed: give them as `ids` to /api/groups"),
  isCut: z.boolean().describe("More changed than are named: read again what is shown"),
  registration: z
    .number()
    .int()
    .describe("As in /api/status; another one where functions were registered, paused or limited since"),
  alerts: z.object({
    open: z.number().int(),
    new: z.array(z.object({ id: z.string(), kind: z.string(), function: z.string(), pairCount: z.number().int() })),
  }),
});
export type LiveDigest = z.infer<typeof liveDigest>;
