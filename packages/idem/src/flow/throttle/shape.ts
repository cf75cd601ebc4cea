import { z } from "zod";
import { key } from "../shape-key.ts";

export const throttleShape = z.object({ limit: z.number(), periodMs: z.number(), burst: z.number(), key });
