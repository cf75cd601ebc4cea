// GET /api/events: what arrived, newest first, without payloads.
import { z } from "zod";
import { apiRoute } from "../api/api-route.ts";
import { eventItem, eventItemOf } from "../api/event-shape.ts";
import { boundsOf, nextField, pageFields } from "../api/paging.ts";

export const listEvents = apiRoute({
  method: "GET",
  path: "/api/events",
  summary: "List events, newest first",
  tag: "events",
  query: { name: z.string().min(1).max(256).optional().describe("Exactly this name"), ...pageFields },
  answer: z.object({ events: z.array(eventItem), next: nextField }),
  handle: async ({ query, engine, env, now }) => {
    const { name, before } = query;
    const { rows, next } = await engine.store.reads.eventPage(env, {
      ...boundsOf(query, now),
      ...(name === undefined ? {} : { name }),
      ...(before === undefined ? {} : { before }),
    });
    return { events: rows.map(eventItemOf), next };
  },
});
