// GET /api/runs/:run/steps/:step/input: what one step was given, byte for byte as it is stored.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { lostInput } from "../../../model/step-input.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { storedJson } from "../../api/payloads.ts";

export const readStepInput = apiRoute({
  method: "GET",
  path: "/api/runs/:run/steps/:step/input",
  summary: "Read what a step was given, as it is stored; null for nothing, and for what could not be kept",
  tag: "runs",
  answer: z.unknown(),
  handle: async ({ params, engine, env }) => {
    const [runId, step] = [params.run!, params.step!];
    const { reads } = engine.store;
    const memo = await reads.runMemo(env, runId);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId });
    if (![...memo.steps, ...memo.waits, ...memo.attempts].some(({ stepId }) => stepId === step)) {
      throw errors.RUN_STEP_UNKNOWN({ runId, step });
    }
    const input = (await reads.stepInput(env, runId, step)) ?? memo.inputs[step] ?? null;
    return new RawAnswer(storedJson(input === null || lostInput(input) !== null ? "null" : input));
  },
});
