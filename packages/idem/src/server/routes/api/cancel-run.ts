// POST /api/runs/:run/cancel: after the answer no new attempt of the run starts.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { runStates } from "../../../model/run.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";

export const cancelRun = apiRoute({
  method: "POST",
  path: "/api/runs/:run/cancel",
  summary: "Cancel a run; what its steps did stays done",
  tag: "runs",
  body: { reason: reasonField.optional().describe("Kept as the run's error") },
  answer: z.object({
    cancelled: z.boolean().describe("False when it had already ended"),
    state: z.enum(runStates),
  }),
  handle: async ({ params, body, engine, actor }) => {
    const byHand = { actor: actor.name, reason: body.reason ?? "" };
    const answer = await engine.cancel(params.run!, body.reason ?? "the run was cancelled", byHand);
    if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId: params.run! });
    const cancelled = answer.kind === "cancelled";
    return { cancelled, state: cancelled ? "cancelled" : answer.state };
  },
});
