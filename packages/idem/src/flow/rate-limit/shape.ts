import { z } from "zod";
import { key } from "../shape-key.ts";

export const rateLimitShape = z.object({ limit: z.number(), periodMs: z.number(), key });
