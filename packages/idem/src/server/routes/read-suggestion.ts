// GET /api/radar/suggestions/:function: the key a function should have, with what speaks for it.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import { suggestKey } from "../../radar/suggest-key.ts";
import { apiRoute } from "../api/api-route.ts";
import { nameIn } from "../radar/alert-shape.ts";

export const readSuggestion = apiRoute({
  method: "GET",
  path: "/api/radar/suggestions/:function",
  summary: "Suggest a key for a function, from its newest runs of seven days",
  tag: "radar",
  answer: z.object({
    function: z.string(),
    expression: z.string().nullable().describe("Null where nothing ran twice or no field will do"),
    line: z.string().nullable().describe("To be pasted into the function's options"),
    keyExpression: z.string().nullable().describe("The key it has"),
    runCount: z.number().int(),
    suppressedCount: z.number().int().describe("How many of the runs the key would have answered with an earlier one"),
    entityCount: z.number().int(),
    differs: z.array(z.string()),
    evidence: z.array(z.string()),
    refused: z.array(z.object({ expression: z.string(), why: z.enum(["too-wide", "too-narrow", "not-always-there"]) })),
  }),
  handle: async ({ params, engine, env, now }) => {
    const target = engine.registry.find(params.function!);
    if (target === null) throw errors.FUNCTION_UNKNOWN({ function: params.function! });
    const about = { name: nameIn(engine, target.fn), keyExpression: target.config.idempotency?.key ?? null };
    const { differs, evidence, refused, ...rest } = await suggestKey(engine.store, env, target.fn, about, now);
    return {
      function: target.fn,
      ...rest,
      differs: [...differs],
      evidence: [...evidence],
      refused: refused.map((each) => ({ ...each })),
    };
  },
});
