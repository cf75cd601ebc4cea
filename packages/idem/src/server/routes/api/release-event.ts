// POST /api/events/:event/release: a paused or held event starts what it would have started, also while its function is paused.
import { z } from "zod";
import { decideEvent } from "../../../sdk/decide-event.ts";
import { apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { verdictBody } from "../../api/verdict-body.ts";

export const releaseEvent = apiRoute({
  method: "POST",
  path: "/api/events/:event/release",
  summary: "Release a paused or held event: it starts what it would have started",
  tag: "events",
  body: verdictBody,
  answer: z.object({ decision: explainedDecision }),
  handle: async ({ params, body, engine, actor }) => ({
    decision: explainedDecisionOf(await decideEvent(engine, params.event!, "release", { ...body, actor: actor.name })),
  }),
});
