// DELETE /v1/runs/:run: cancels it. Repeat: done again.
import { errors } from "../../../model/errors.ts";
import { v1Route } from "../../v1-route.ts";

export const cancelRun = v1Route({
  method: "DELETE",
  path: "/v1/runs/:run",
  handle: async ({ params, engine, actor }) => {
    const runId = params.run!;
    const answer = await engine.cancel(runId, "the run was cancelled", { actor, reason: "" });
    if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId });
    if (answer.kind === "already-ended" && answer.state !== "cancelled") {
      throw errors.RUN_ENDED({ runId, state: answer.state });
    }
    return undefined;
  },
});
