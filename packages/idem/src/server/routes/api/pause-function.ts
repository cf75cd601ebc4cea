// POST /api/functions/:function/pause: it starts no runs until it is resumed; its events are kept, decided as paused. Open runs go on.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { functionItem, functionItemIn } from "../../api/function-shape.ts";
import { reasonField } from "../../api/reason.ts";

export const pauseFunction = apiRoute({
  method: "POST",
  path: "/api/functions/:function/pause",
  summary: "Pause a function: it starts no runs, its events are kept and open runs go on",
  tag: "functions",
  body: { reason: reasonField.optional().describe("Why; kept in the audit") },
  answer: z.object({ changed: z.boolean(), function: functionItem }),
  handle: async ({ params, body, engine, actor }) => {
    const fn = params.function!;
    const { changed } = await engine.pause({ fn, paused: true, reason: body.reason ?? "", actor: actor.name });
    return { changed, function: await functionItemIn(engine, fn) };
  },
});
