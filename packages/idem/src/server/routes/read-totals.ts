// GET /api/totals: the headline and its chart.
import { z } from "zod";
import { dayMs } from "../../model/window.ts";
import { apiRoute } from "../api/api-route.ts";
import { knownFunctions } from "../groups/functions-known.ts";
import { bucketsMax, totalsOf } from "../groups/totals.ts";
import { instantText, readInstant } from "../read-input.ts";

const counts = {
  asked: z.number().int().describe("first + suppressed + slipped"),
  first: z.number().int().describe("Runs that were the first of their key"),
  suppressed: z.number().int().describe("Duplicates that were answered with an earlier run"),
  slipped: z.number().int().describe("Runs that ran again though nobody asked for it"),
};

export const readTotals = apiRoute({
  method: "GET",
  path: "/api/totals",
  summary: "Read how much was asked, ran first, was suppressed and slipped through",
  tag: "runs",
  query: {
    since: instantText.optional().describe("7 days ago unless told"),
    until: instantText.optional(),
    fn: z.string().min(1).max(256).optional(),
  },
  answer: z.object({
    since: z.number().int(),
    until: z.number().int(),
    ...counts,
    functions: z.array(z.object({ function: z.string(), ...counts })),
    bucketMs: z.number().int(),
    buckets: z
      .array(z.object({ at: z.number().int(), ...counts }))
      .describe(`At most ${bucketsMax + 1}, empty ones too`),
    isAll: z.boolean().describe("False while there is more than could be counted now"),
  }),
  handle: async ({ query, engine, env, now }) => {
    const { reads } = engine.store;
    const until = query.until === undefined ? now + 1 : readInstant("until", query.until, now);
    const since = Math.min(
      query.since === undefined ? now - 7 * dayMs : readInstant("since", query.since, now),
      until - 1,
    );
    const functions = await knownFunctions(reads, env);
    const range = { since, until, ...(query.fn === undefined ? {} : { fn: query.fn }) };
    const { total, byFunction, bucketMs, buckets, isAll } = await totalsOf(reads, env, functions, range);
    const byName = [...byFunction].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      since,
      until,
      ...total,
      functions: byName.map(([fn, some]) => ({ function: fn, ...some })),
      bucketMs,
      buckets: [...buckets],
      isAll,
    };
  },
});
