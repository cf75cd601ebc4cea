// GET /v1/events/:event: one event.
import { restEvent } from "../../../protocol/rest-shapes.ts";
import { eventIn, v1Route } from "../../v1-route.ts";

export const readEvent = v1Route({
  method: "GET",
  path: "/v1/events/:event",
  handle: async ({ params, engine, env }) => restEvent(await eventIn(engine, params.event!), env),
});
