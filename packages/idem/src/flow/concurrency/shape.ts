import { z } from "zod";
import { key } from "../shape-key.ts";

export const concurrencyShape = z.array(
  z.object({
    limit: z.number(),
    key,
    scope: z.enum(["fn", "env", "account"]),
    parallelSteps: z
      .literal(true)
      .exactOptional()
      .describe("Steps of a run that run side by side take a slot each; absent where the limit counts runs"),
  }),
);
