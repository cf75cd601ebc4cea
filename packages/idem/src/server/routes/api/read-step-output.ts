// GET /api/runs/:run/steps/:step/output: what one step left behind, byte for byte as it is stored.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { storedJson } from "../../api/payloads.ts";

export const readStepOutput = apiRoute({
  method: "GET",
  path: "/api/runs/:run/steps/:step/output",
  summary: "Read a step's value or error as it is stored; the step by its stepId in the timeline",
  tag: "runs",
  answer: z.unknown(),
  handle: async ({ params, engine, env }) => {
    const { run: runId, step } = params;
    const memo = await engine.store.reads.runMemo(env, runId!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: runId! });
    const found = memo.steps.find(({ stepId }) => stepId === step);
    if (found === undefined) throw errors.RUN_STEP_UNKNOWN({ runId: runId!, step: step! });
    return new RawAnswer(storedJson(found.outcome.json));
  },
});
