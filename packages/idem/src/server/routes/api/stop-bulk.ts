// POST /api/bulk/:bulk/cancel: what is done stays done, nothing more is begun.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { bulkItem, bulkItemOf } from "../../api/bulk-shape.ts";
import { bulkOf } from "../../bulk-work.ts";

export const stopBulk = apiRoute({
  method: "POST",
  path: "/api/bulk/:bulk/cancel",
  summary: "Stop bulk work; what is done stays done",
  tag: "bulk",
  answer: z.object({ bulk: bulkItem }),
  handle: async ({ params, env, world, actor }) => ({
    bulk: bulkItemOf(await bulkOf(world).cancel(env, params.bulk!, { actor: actor.name })),
  }),
});
