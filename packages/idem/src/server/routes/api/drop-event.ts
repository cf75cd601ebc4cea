// POST /api/events/:event/drop: a paused or held event is let go of for good.
import { z } from "zod";
import { decideEvent } from "../../../sdk/decide-event.ts";
import { apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { verdictBody } from "../../api/verdict-body.ts";

export const dropEvent = apiRoute({
  method: "POST",
  path: "/api/events/:event/drop",
  summary: "Drop a paused or held event: it starts nothing, for good",
  tag: "events",
  body: verdictBody,
  answer: z.object({ decision: explainedDecision }),
  handle: async ({ params, body, engine, actor }) => ({
    decision: explainedDecisionOf(await decideEvent(engine, params.event!, "drop", { ...body, actor: actor.name })),
  }),
});
