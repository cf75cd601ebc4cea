// GET /api/functions: how each function is set up, how it did today, and what is open of it.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { functionInFigures, functionsInFigures } from "../../api/function-shape.ts";

export const listFunctions = apiRoute({
  method: "GET",
  path: "/api/functions",
  summary: "List the functions that are registered, with the figures of a day, their open runs and waiting events",
  tag: "functions",
  answer: z.object({ functions: z.array(functionInFigures) }),
  handle: async ({ engine, env, now }) => ({ functions: await functionsInFigures(engine, env, now) }),
});
