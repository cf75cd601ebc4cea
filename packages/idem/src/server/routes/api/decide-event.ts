// POST /api/events/:event/release and …/drop: what a person says about one event that waits for them.
import { z } from "zod";
import { decideEvent } from "../../../sdk/decide-event.ts";
import { apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { reasonField } from "../../api/reason.ts";

const verdictBody = {
  function: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Which function's, by its full name; needed when the event waits for several"),
  reason: reasonField.optional().describe("Why; kept in the audit"),
};

/** Also while its function is paused. */
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
