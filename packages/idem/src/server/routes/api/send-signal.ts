// POST /api/signals: wakes the one run that waits for this signal.
import { z } from "zod";
import { toJson } from "../../../model/json.ts";
import { apiRoute } from "../../api/api-route.ts";

export const sendSignal = apiRoute({
  method: "POST",
  path: "/api/signals",
  summary: "Wake the run that waits for this signal",
  tag: "signals",
  body: { signal: z.string().min(1).max(1_024), data: z.unknown().optional() },
  answer: z.object({ runId: z.string().nullable().describe("Null when nobody waits for it") }),
  handle: async ({ body, engine, actor }) => {
    const { signal, data } = body;
    const json = toJson({ signal, data: data ?? null }, `Signal "${signal}"`);
    return { runId: await engine.signal(signal, json, { actor: actor.name }) };
  },
});
