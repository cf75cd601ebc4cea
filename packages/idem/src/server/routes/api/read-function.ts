// GET /api/functions/:function: one function.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { functionInFigures, functionsInFigures } from "../../api/function-shape.ts";

export const readFunction = apiRoute({
  method: "GET",
  path: "/api/functions/:function",
  summary: "Read one function",
  tag: "functions",
  answer: z.object({ function: functionInFigures }),
  handle: async ({ params, engine, env, now }) => {
    const [found] = await functionsInFigures(engine, env, now, params.function!);
    return { function: found! };
  },
});
