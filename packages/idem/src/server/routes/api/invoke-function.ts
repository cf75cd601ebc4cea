// POST /api/functions/:function/invoke: a person starts exactly this function, and gets the decision.
import { z } from "zod";
import { defaultWindowMs } from "../../../model/function-config.ts";
import { sendResultOf } from "../../../sdk/send-result.ts";
import { apiRoute } from "../../api/api-route.ts";
import { type ExplainedDecisionItem, explainedDecision } from "../../api/decision-shape.ts";

export const invokeFunction = apiRoute({
  method: "POST",
  path: "/api/functions/:function/invoke",
  summary: "Start one function with data of your own; its key holds as for any event",
  tag: "functions",
  body: {
    data: z.record(z.string(), z.unknown()).default({}).describe("The event's data"),
    id: z.string().min(1).max(1_024).optional().describe("The same id again starts nothing again"),
  },
  answer: z.object({ eventId: z.string(), decisions: z.array(explainedDecision) }),
  handle: async ({ params, body, engine, actor }) => {
    const input = { data: body.data, ...(body.id === undefined ? {} : { id: body.id }) };
    const byHand = actor.isPerson ? { actor: actor.name, reason: `invoked ${params.function!}` } : undefined;
    const accepted = await engine.invoke(params.function!, input, defaultWindowMs, { byHand });
    const { ids, decisions } = sendResultOf(accepted);
    return {
      eventId: ids[0]!,
      decisions: decisions.map((decision): ExplainedDecisionItem => ({ ...decision, differs: [...decision.differs] })),
    };
  },
});
