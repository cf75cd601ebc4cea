import { z } from "zod";
import { key } from "../shape-key.ts";

export const concurrencyShape = z.array(z.object({ limit: z.number(), key, scope: z.enum(["fn", "env", "account"]) }));
