// POST /api/runs/:run/release: a person lets a parked run go on where it was.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { runStates } from "../../../model/run.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";

export const releaseRun = apiRoute({
  method: "POST",
  path: "/api/runs/:run/release",
  summary: "Let a parked run go on; its entries are counted from the start",
  tag: "runs",
  body: { reason: reasonField.optional().describe("Why; kept in the audit") },
  answer: z.object({
    released: z.boolean().describe("False when it is not parked"),
    state: z.enum(runStates),
  }),
  handle: async ({ params, body, engine, actor }) => {
    const runId = params.run!;
    const answer = await engine.release(runId, { actor: actor.name, reason: body.reason ?? "" });
    if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId });
    const released = answer.kind === "released";
    return { released, state: released ? "queued" : answer.state };
  },
});
