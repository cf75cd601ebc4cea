// GET /api/functions/:function: one function.
import { z } from "zod";
import { apiRoute } from "../api/api-route.ts";
import { functionItem, functionItemIn } from "../api/function-shape.ts";

export const readFunction = apiRoute({
  method: "GET",
  path: "/api/functions/:function",
  summary: "Read one function",
  tag: "functions",
  answer: z.object({ function: functionItem }),
  handle: async ({ params, engine }) => ({ function: await functionItemIn(engine, params.function!) }),
});
