// GET /api/webhooks/:name: a source, and what became of its deliveries as far as this process remembers.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import {
  deliveryFigures,
  deliveryFiguresOf,
  findSource,
  shownOf,
  sourceItem,
  sourceItemOf,
} from "../../webhooks/source-shape.ts";

export const readWebhook = apiRoute({
  method: "GET",
  path: "/api/webhooks/:name",
  summary: "Read a source of webhooks and its newest deliveries",
  tag: "webhooks",
  answer: z.object({
    source: sourceItem.extend(deliveryFigures),
    counts: z
      .record(z.string(), z.number().int())
      .describe("Deliveries by what became of them, since this process began"),
    deliveries: z
      .array(
        z.object({
          at: z.number().int(),
          kind: z
            .string()
            .describe("`kept`, `duplicate`, `conflicting-payload`, `quarantined`, `refused`, `handshake`, …"),
          id: z.string().nullable().describe("The delivery's own id"),
          type: z.string().nullable(),
          why: z.string().nullable(),
        }),
      )
      .describe("The newest 50 that came to this process; what was kept is in /api/events"),
  }),
  handle: async ({ params, engine, env, world }) => {
    const { setting } = await findSource(engine.store, env, params.name!);
    const { counts, newest } = world.deliveries.of(env, setting.name);
    return {
      source: {
        ...sourceItemOf(world, env, shownOf(setting)),
        ...deliveryFiguresOf(world, env, setting.name, world.platform.wallMs()),
      },
      counts: { ...counts } as Record<string, number>,
      deliveries: newest.map((note) => ({ ...note })),
    };
  },
});
