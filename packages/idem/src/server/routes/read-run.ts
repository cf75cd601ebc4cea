// GET /api/runs/:run: one run with its timeline, and what it spared.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import { apiRoute } from "../api/api-route.ts";
import { decisionItem, decisionItemOf } from "../api/decision-shape.ts";
import { eventItem, wholeEventItemOf } from "../api/event-shape.ts";
import { PayloadBudget } from "../api/payloads.ts";
import { runDetail, runDetailOf } from "../api/run-shape.ts";

const sparedShown = 100;

export const readRun = apiRoute({
  method: "GET",
  path: "/api/runs/:run",
  summary: "Read a run with its timeline",
  tag: "runs",
  answer: z.object({
    run: runDetail,
    event: eventItem,
    spared: z.array(decisionItem).describe("The first hundred decisions that were answered with this run"),
  }),
  handle: async ({ params, engine, env }) => {
    const { reads } = engine.store;
    const memo = await reads.runMemo(env, params.run!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    const spared = await reads.duplicatesOfRun(env, memo.run.id, sparedShown);
    return {
      run: runDetailOf(memo, env, new PayloadBudget()),
      event: wholeEventItemOf(memo.event),
      spared: spared.map(decisionItemOf),
    };
  },
});
