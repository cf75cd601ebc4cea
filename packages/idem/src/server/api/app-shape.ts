// Apps as /api shows them.
import { z } from "zod";

export const appItem = z.object({
  app: z.string(),
  url: z.string().nullable().describe("Null for workers that connect"),
  kind: z.enum(["http", "connect", "endpoint"]),
  sdk: z.string().nullable(),
  framework: z.string().nullable(),
  appVersion: z.string().nullable(),
  functionCount: z.number().int(),
  syncedAt: z.number().int().nullable(),
  error: z.string().nullable().describe("Why the last sync or call did not work"),
  workers: z.number().int().nullable().describe("Workers connected right now; null for apps reached by URL"),
});
