// GET /api/bulk: what was asked for in bulk during the last days.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { bulkItem, bulkItemOf } from "../../api/bulk-shape.ts";
import { bulkOf } from "../../bulk-work.ts";

export const listBulk = apiRoute({
  method: "GET",
  path: "/api/bulk",
  summary: "List bulk work, newest first",
  tag: "bulk",
  answer: z.object({ bulk: z.array(bulkItem) }),
  handle: async ({ env, world }) => ({ bulk: (await bulkOf(world).list(env)).map(bulkItemOf) }),
});
