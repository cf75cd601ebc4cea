import { z } from "zod";
import { key } from "../shape-key.ts";

export const batchShape = z.object({ maxSize: z.number(), timeoutMs: z.number(), key, if: z.string().nullable() });
