import { z } from "zod";

export const cancelOnShape = z.array(
  z.object({ event: z.string(), if: z.string().nullable(), timeoutMs: z.number().nullable() }),
);
