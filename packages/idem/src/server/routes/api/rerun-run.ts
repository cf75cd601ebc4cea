// POST /api/runs/:run/rerun: a person asks for a new run from an old one, from the start or from one of its steps.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";

// An edited input may be as large as what a step may keep.
const bodyBytesMax = 5 * 1024 * 1024;

export const rerunRun = apiRoute({
  method: "POST",
  path: "/api/runs/:run/rerun",
  summary: "Start a new run from this one, past its event's id and its key, with the same destination keys",
  tag: "runs",
  bodyBytesMax,
  body: {
    fromStep: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe(
        "Keep what was recorded before this step: its id as written, `id:n` for its n-th repeat, or its stepId",
      ),
    input: z.array(z.unknown()).optional().describe("With fromStep: arguments for that step's code instead of its own"),
  },
  answer: z.object({ runId: z.string() }),
  handle: async ({ params, body, engine, actor }) => ({
    runId: await engine.rerun(params.run!, {
      byHand: { actor: actor.name },
      ...(body.fromStep === undefined ? {} : { fromStep: body.fromStep }),
      ...(body.input === undefined ? {} : { input: body.input }),
    }),
  }),
});
