// GET /api/event-types: the events that are known here by name, for sending one.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { eventType, eventTypesIn } from "../../api/event-types.ts";

export const listEventTypes = apiRoute({
  method: "GET",
  path: "/api/event-types",
  summary:
    "List the events that functions name or that came lately, with the JSON Schema of their data where an app told one",
  tag: "events",
  query: {
    function: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe("Only those that start this function, as its app has them"),
  },
  answer: z.object({ eventTypes: z.array(eventType) }),
  handle: async ({ query, engine }) => ({ eventTypes: await eventTypesIn(engine, query.function ?? null) }),
});
