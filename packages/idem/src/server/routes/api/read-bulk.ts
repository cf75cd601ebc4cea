// GET /api/bulk/:bulk: how far it is.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { bulkItem, bulkItemOf } from "../../api/bulk-shape.ts";
import { bulkOf } from "../../bulk-work.ts";

export const readBulk = apiRoute({
  method: "GET",
  path: "/api/bulk/:bulk",
  summary: "Read how far bulk work is",
  tag: "bulk",
  answer: z.object({ bulk: bulkItem }),
  handle: async ({ params, env, world }) => ({ bulk: bulkItemOf(await bulkOf(world).read(env, params.bulk!)) }),
});
