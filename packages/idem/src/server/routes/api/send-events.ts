// POST /api/events: a person sends events and gets the decisions.
import { z } from "zod";
import { limits } from "../../../engine/limits.ts";
import { lasting, parseDuration } from "../../../model/duration.ts";
import { defaultWindowMs } from "../../../model/function-config.ts";
import { readTraceparent, traceparentHeader } from "../../../protocol/traceparent.ts";
import { sendResultOf } from "../../../sdk/send-result.ts";
import { apiRoute } from "../../api/api-route.ts";
import { type ExplainedDecisionItem, explainedDecision } from "../../api/decision-shape.ts";

// A person sends one or a few; programs have POST /e/:key, which takes more.
const bodyBytesMax = 4 * 1024 * 1024;

export const sendEvents = apiRoute({
  method: "POST",
  path: "/api/events",
  summary: "Send events, all or none, and learn what was decided for each function",
  tag: "events",
  bodyBytesMax,
  body: {
    events: z
      .array(z.looseObject({ name: z.string(), data: z.unknown().optional(), id: z.string().optional() }))
      .min(1)
      .max(limits.eventsPerCallMax)
      .describe("Each with a name, and with data, id, ts, v and user where wanted"),
    window: z.string().max(40).optional().describe('How long the ids of these events stay taken; "24h" unless told'),
  },
  answer: z.object({
    ids: z.array(z.string()).describe("The stored events, in the order given"),
    decisions: z.array(explainedDecision),
    unmatched: z.boolean().describe("No function has a trigger for any of them"),
  }),
  handle: async ({ body, engine, actor, headers, world }) => {
    await world.reservedNames.refuseSent(engine, body.events);
    // People send a few; what programs send is in the list of events.
    const byHand = actor.isPerson ? { actor: actor.name, reason: `${body.events.length} in all` } : undefined;
    const accepted = await engine.accept(body.events, windowOf(body.window), [], {
      byHand,
      trace: readTraceparent(headers[traceparentHeader]),
    });
    const { ids, decisions } = sendResultOf(accepted);
    return {
      ids: [...ids],
      // The server's engine belongs to no app, so functions have their full names already.
      decisions: decisions.map((decision): ExplainedDecisionItem => ({ ...decision, differs: [...decision.differs] })),
      unmatched: decisions.length === 0,
    };
  },
});

const windowOf = (text: string | undefined): number =>
  text === undefined ? defaultWindowMs : lasting(parseDuration(text, "window"), "window");
