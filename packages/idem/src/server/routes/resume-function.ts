// POST /api/functions/:function/resume: a paused function starts runs again. Events decided as paused meanwhile stay as they were decided.
import { z } from "zod";
import { apiRoute } from "../api/api-route.ts";
import { functionItem, functionItemIn } from "../api/function-shape.ts";
import { reasonField } from "../api/reason.ts";

export const resumeFunction = apiRoute({
  method: "POST",
  path: "/api/functions/:function/resume",
  summary: "Let a paused function start runs again; events decided as paused stay so",
  tag: "functions",
  body: { reason: reasonField.optional().describe("Why; kept in the audit") },
  answer: z.object({ changed: z.boolean(), function: functionItem }),
  handle: async ({ params, body, engine }) => {
    const fn = params.function!;
    const { changed } = await engine.pause({ fn, paused: false, reason: body.reason ?? "" });
    return { changed, function: await functionItemIn(engine, fn) };
  },
});
