import { z } from "zod";
import { key } from "../shape-key.ts";

export const debounceShape = z.object({ periodMs: z.number(), timeoutMs: z.number().nullable(), key });
