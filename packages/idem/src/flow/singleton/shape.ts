import { z } from "zod";
import { key } from "../shape-key.ts";

export const singletonShape = z.object({ mode: z.enum(["skip", "cancel"]), key });
