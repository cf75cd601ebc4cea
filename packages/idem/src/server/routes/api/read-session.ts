// GET /api/session: who am I, for a page that has just been opened.
import { apiRoute } from "../../api/api-route.ts";
import { sessionItem, sessionItemOf } from "../../api/session-shape.ts";

export const readSession = apiRoute({
  method: "GET",
  path: "/api/session",
  summary: "Who asks, what they may do, and until when",
  tag: "session",
  answer: sessionItem,
  handle: ({ actor }) => sessionItemOf(actor),
});
