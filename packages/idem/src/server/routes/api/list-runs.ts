// GET /api/runs: runs, newest first, without payloads.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { runStates } from "../../../model/run.ts";
import { ulidTime } from "../../../model/ulid.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { apiRoute } from "../../api/api-route.ts";
import { openPreviews } from "../../api/open-previews.ts";
import { boundsOf, lookedBackToField, nextField, pageFields, partialField } from "../../api/paging.ts";
import { runItem, runItemOf } from "../../api/run-shape.ts";
import { endedRange } from "../../groups/ends.ts";
import { instantText } from "../../read-input.ts";

export const listRuns = apiRoute({
  method: "GET",
  path: "/api/runs",
  summary: "List runs, newest first",
  tag: "runs",
  query: {
    function: z.string().min(1).max(256).optional(),
    state: z.enum(runStates).optional(),
    open: z.enum(["true"]).optional().describe("Only runs that have not ended"),
    event: z.string().min(1).max(64).optional().describe("Opened by this event, by its stored id"),
    key: z.string().min(1).max(2_048).optional().describe('With function: runs of this key, such as 7 or "7"'),
    endedSince: instantText.optional().describe("Only runs that ended then or later"),
    endedUntil: instantText.optional().describe("Only runs that ended before then"),
    ...pageFields,
  },
  answer: z.object({
    runs: z.array(runItem),
    next: nextField,
    isPartial: partialField,
    lookedBackTo: lookedBackToField,
  }),
  handle: async ({ query, engine, env, now }) => {
    const { function: fn, state, open, event, key, before } = query;
    const { reads } = engine.store;
    if (key !== undefined && fn === undefined) {
      throw errors.REQUEST_INVALID({
        why: 'query parameter "key": a key is unique inside its function only; give "function" as well',
      });
    }
    const { bounds: ended } = await endedRange(reads, env, query, now);
    if (ended === null) return { runs: [], next: null, isPartial: false, lookedBackTo: null };
    const { rows, next } = await reads.runPage(env, {
      ...boundsOf(query, now),
      ...ended,
      ...(fn === undefined ? {} : { fn }),
      ...(state === undefined ? {} : { state }),
      ...(open === undefined ? {} : { isOpen: true as const }),
      ...(event === undefined ? {} : { eventId: event }),
      ...(key === undefined || fn === undefined ? {} : { key: await functionKeyOf(reads, env, fn, key) }),
      ...(before === undefined ? {} : { before }),
    });
    const previewOf = await openPreviews(reads, env, rows);
    const isPartial = next !== null && rows.length < query.limit;
    const lookedBackTo = isPartial ? ulidTime(next) : null;
    return { runs: rows.map((run) => runItemOf(run, previewOf(run))), next, isPartial, lookedBackTo };
  },
});
