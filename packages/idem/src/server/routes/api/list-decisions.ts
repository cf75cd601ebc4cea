// GET /api/decisions: what became of events, newest first: everything suppressed, held or paused is found here.
import { z } from "zod";
import { type DecisionKind, decisionKinds } from "../../../model/decision.ts";
import { errors } from "../../../model/errors.ts";
import { apiRoute } from "../../api/api-route.ts";
import { decisionItem, decisionItemOf } from "../../api/decision-shape.ts";
import { boundsOf, nextField, pageFields } from "../../api/paging.ts";
import { readCursor, writeCursor } from "../../read-input.ts";

export const listDecisions = apiRoute({
  method: "GET",
  path: "/api/decisions",
  summary: "List decisions, newest first",
  tag: "decisions",
  query: {
    function: z.string().min(1).max(256).optional(),
    kind: z
      .string()
      .max(200)
      .optional()
      .describe(`One or several, with commas: ${decisionKinds.join(", ")}`),
    pending: z
      .literal("true")
      .optional()
      .describe("Only those that somebody or something still decides: held, paused, debounced, batched"),
    ...pageFields,
  },
  answer: z.object({ decisions: z.array(decisionItem), next: nextField }),
  handle: async ({ query, engine, env, now }) => {
    const { kind, before, pending } = query;
    const [eventId, of] = before === undefined ? [] : readCursor(before, 2);
    const { rows, next } = await engine.store.reads.decisionPage(env, {
      ...boundsOf(query, now),
      ...(query.function === undefined ? {} : { fn: query.function }),
      ...(kind === undefined ? {} : { kinds: kind.split(",").map(readKind) }),
      ...(pending === undefined ? {} : { isPending: true as const }),
      ...(eventId === undefined || of === undefined ? {} : { before: { eventId, fn: of } }),
    });
    return { decisions: rows.map(decisionItemOf), next: next === null ? null : writeCursor(next.eventId, next.fn) };
  },
});

function readKind(text: string): DecisionKind {
  const kind = decisionKinds.find((each) => each === text.trim());
  if (kind !== undefined) return kind;
  throw errors.REQUEST_INVALID({
    why: `query parameter "kind": ${JSON.stringify(text)} is none of ${decisionKinds.join(", ")}`,
  });
}
