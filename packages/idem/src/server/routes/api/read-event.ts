// GET /api/events/:event: one event, what was decided for each function, and what came again.
import { z } from "zod";
import { eventScope, webhookScope } from "../../../model/claim.ts";
import { errors } from "../../../model/errors.ts";
import { explainEvent } from "../../../observe/explain.ts";
import { findEvent } from "../../../observe/find-event.ts";
import { apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { eventDetail, eventDetailOf, eventItem, wholeEventItemOf } from "../../api/event-shape.ts";
import { examinedMax } from "../../api/paging.ts";
import { PayloadBudget } from "../../api/payloads.ts";
import { runItem, runItemOf } from "../../api/run-shape.ts";

const runsShown = 100;

export const readEvent = apiRoute({
  method: "GET",
  path: "/api/events/:event",
  summary: "Read an event by its stored id or its sender's, with decisions, runs and duplicates",
  tag: "events",
  query: {
    scope: z
      .enum([eventScope, webhookScope])
      .optional()
      .describe(
        "Where a sender's id is looked for; a delivery of a webhook before an event sent under the same id unless told",
      ),
  },
  answer: z.object({
    event: eventDetail,
    first: eventItem.nullable().describe("On a duplicate: the event that was first"),
    duplicates: z.array(eventItem).describe("The first hundred that came with its id again"),
    decisions: z.array(explainedDecision),
    runs: z.array(runItem).describe("Runs it opened, reruns included"),
  }),
  handle: async ({ params, query, engine, env }) => {
    const found = await findEvent(engine, params.event!, query.scope);
    if (found === null) throw errors.SUBJECT_UNKNOWN({ id: params.event! });
    const { reads } = engine.store;
    const { event, first, duplicates, decisions } = await explainEvent(reads, env, found);
    const runs = await reads.runPage(env, { eventId: event.id, limit: runsShown, examinedMax });
    return {
      event: eventDetailOf(event, new PayloadBudget()),
      first: first === null ? null : wholeEventItemOf(first),
      duplicates: duplicates.map(wholeEventItemOf),
      decisions: decisions.map(explainedDecisionOf),
      runs: runs.rows.map((run) => runItemOf(run)),
    };
  },
});
