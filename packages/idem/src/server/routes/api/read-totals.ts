// GET /api/totals: the headline and its chart.
import { z } from "zod";
import { knownFunctions } from "../../../radar/functions-known.ts";
import { apiRoute } from "../../api/api-route.ts";
import { tellTotals, totalsItem, totalsRange } from "../../api/totals-shape.ts";
import { tallyNow } from "../../groups/tally.ts";
import { instantText } from "../../read-input.ts";

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
  answer: totalsItem,
  handle: async ({ query, engine, env, now }) => {
    const functions = await knownFunctions(engine.store.reads, env);
    return tellTotals(await tallyNow(engine, env, functions, totalsRange(query, now), now), now);
  },
});
