// Triggers and flow control as /api shows them: as they are configured, durations in milliseconds.
import { z } from "zod";
import { batchShape } from "../../flow/batch/shape.ts";
import { cancelOnShape } from "../../flow/cancel-on/shape.ts";
import { concurrencyShape } from "../../flow/concurrency/shape.ts";
import { debounceShape } from "../../flow/debounce/shape.ts";
import type { FlowConfig } from "../../flow/options.ts";
import { priorityShape } from "../../flow/priority/shape.ts";
import { rateLimitShape } from "../../flow/rate-limit/shape.ts";
import { singletonShape } from "../../flow/singleton/shape.ts";
import { throttleShape } from "../../flow/throttle/shape.ts";

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
  concurrency: concurrencyShape.exactOptional(),
  throttle: throttleShape.exactOptional(),
  rateLimit: rateLimitShape.exactOptional(),
  debounce: debounceShape.exactOptional(),
  batch: batchShape.exactOptional(),
  singleton: singletonShape.exactOptional(),
  priority: priorityShape.exactOptional(),
  cancelOn: cancelOnShape.exactOptional(),
} satisfies Record<keyof FlowConfig, z.ZodType>);
