// GET /api/webhooks: the sources of webhooks that were made in this server.
import { z } from "zod";
import { sourceKind } from "../../../toolkit/webhooks/source-setting.ts";
import { apiRoute } from "../../api/api-route.ts";
import { deliveryFigures, deliveryFiguresOf, shownOf, sourceItem, sourceItemOf } from "../../webhooks/source-shape.ts";

export const listWebhooks = apiRoute({
  method: "GET",
  path: "/api/webhooks",
  summary: "List sources of webhooks",
  tag: "webhooks",
  answer: z.object({ sources: z.array(sourceItem.extend(deliveryFigures)) }),
  handle: async ({ engine, env, world }) => {
    const settings = await engine.store.reads.settings(env, sourceKind);
    const now = world.platform.wallMs();
    return {
      sources: settings.map((setting) => ({
        ...sourceItemOf(world, env, shownOf(setting)),
        ...deliveryFiguresOf(world, env, setting.name, now),
      })),
    };
  },
});
