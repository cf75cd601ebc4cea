// GET /api/functions: how each function is set up, and what is open of it.
import { z } from "zod";
import { countPending } from "../../observe/pending-counts.ts";
import { apiRoute } from "../api/api-route.ts";
import { functionItem, functionItemOf } from "../api/function-shape.ts";

export const listFunctions = apiRoute({
  method: "GET",
  path: "/api/functions",
  summary: "List the functions that are registered, with their open runs and waiting events",
  tag: "functions",
  answer: z.object({ functions: z.array(functionItem) }),
  handle: async ({ engine, env }) => {
    const { reads } = engine.store;
    const [{ functions }, counts, pending] = await Promise.all([
      reads.functions(env),
      reads.counts(env),
      countPending(reads, env),
    ]);
    return { functions: functions.map((registered) => functionItemOf(registered, counts, pending(registered.fn))) };
  },
});
