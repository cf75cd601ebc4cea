// GET /api/functions/:function/charts: how one function did over time.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { apiRoute } from "../../api/api-route.ts";
import { chartedRunsMax, chartsOf, functionCharts } from "../../api/function-charts.ts";
import { examinedMax } from "../../api/paging.ts";
import { endsIn } from "../../groups/ends.ts";

const hourMs = 3_600_000;
const ranges = { "1h": hourMs, "24h": 24 * hourMs, "7d": 7 * 24 * hourMs, "30d": 30 * 24 * hourMs } as const;

export const readFunctionCharts = apiRoute({
  method: "GET",
  path: "/api/functions/:function/charts",
  summary: "Read how a function did over time: outcomes, run times, runs begun and in line",
  tag: "functions",
  query: { range: z.enum(["1h", "24h", "7d", "30d"]).default("24h") },
  answer: functionCharts,
  handle: async ({ params, query, engine, env, now }) => {
    const fn = params.function!;
    const { reads } = engine.store;
    if (!(await reads.functions(env)).functions.some((each) => each.fn === fn))
      throw errors.FUNCTION_UNKNOWN({ function: fn });
    const until = now + 1;
    const ends = await endsIn(reads, env, { since: until - ranges[query.range], until, fn }, now);
    const { since } = ends;
    const newest = await reads.runPage(env, { fn, since, limit: chartedRunsMax, examinedMax });
    return chartsOf(ends, newest.rows, newest.next === null);
  },
});
