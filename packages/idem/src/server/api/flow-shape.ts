// Triggers and flow control as /api shows them: as they are configured, durations in milliseconds.
import { z } from "zod";

const key = z.string().nullable().describe("CEL over `event`; null for one on the whole function");

export const trigger = z.union([
  z.object({ event: z.string(), if: z.string().optional() }),
  z.object({
    cron: z.string(),
    jitterMs: z.number().optional(),
    missed: z
      .union([
        z.object({ kind: z.enum(["skip", "last"]) }),
        z.object({ kind: z.literal("all"), max: z.number().int() }),
      ])
      .optional()
      .describe("Which ticks that nobody was there for are started; the last one unless told"),
  }),
]);

export const flow = z.object({
  concurrency: z.array(z.object({ limit: z.number(), key, scope: z.enum(["fn", "env", "account"]) })).optional(),
  throttle: z.object({ limit: z.number(), periodMs: z.number(), burst: z.number(), key }).optional(),
  rateLimit: z.object({ limit: z.number(), periodMs: z.number(), key }).optional(),
  debounce: z.object({ periodMs: z.number(), timeoutMs: z.number().nullable(), key }).optional(),
  batch: z.object({ maxSize: z.number(), timeoutMs: z.number(), key, if: z.string().nullable() }).optional(),
  singleton: z.object({ mode: z.enum(["skip", "cancel"]), key }).optional(),
  priority: z.string().optional(),
  cancelOn: z
    .array(z.object({ event: z.string(), if: z.string().nullable(), timeoutMs: z.number().nullable() }))
    .optional(),
});
