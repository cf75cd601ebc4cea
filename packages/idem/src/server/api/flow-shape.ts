// Triggers and flow control as /api shows them: as they are configured, durations in milliseconds.
import { z } from "zod";

const key = z.string().nullable().describe("CEL over `event`; null for one on the whole function");

export const trigger = z.union([
  z.object({ event: z.string(), if: z.string().exactOptional() }),
  z.object({
    cron: z.string(),
    jitterMs: z.number().exactOptional(),
    missed: z
      .union([
        z.object({ kind: z.enum(["skip", "last"]) }),
        z.object({ kind: z.literal("all"), max: z.number().int() }),
      ])
      .exactOptional()
      .describe("Which ticks that nobody was there for are started; the last one unless told"),
  }),
]);

export const flow = z.object({
  concurrency: z.array(z.object({ limit: z.number(), key, scope: z.enum(["fn", "env", "account"]) })).exactOptional(),
  throttle: z.object({ limit: z.number(), periodMs: z.number(), burst: z.number(), key }).exactOptional(),
  rateLimit: z.object({ limit: z.number(), periodMs: z.number(), key }).exactOptional(),
  debounce: z.object({ periodMs: z.number(), timeoutMs: z.number().nullable(), key }).exactOptional(),
  batch: z.object({ maxSize: z.number(), timeoutMs: z.number(), key, if: z.string().nullable() }).exactOptional(),
  singleton: z.object({ mode: z.enum(["skip", "cancel"]), key }).exactOptional(),
  priority: z.string().exactOptional(),
  cancelOn: z
    .array(z.object({ event: z.string(), if: z.string().nullable(), timeoutMs: z.number().nullable() }))
    .exactOptional(),
});
