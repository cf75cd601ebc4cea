// POST /api/effects/:effect/resolve: a person says what became of an effect whose outcome nobody knows.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { effectsApi } from "../../../sdk/effects-api.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";

export const resolveEffect = apiRoute({
  method: "POST",
  path: "/api/effects/:effect/resolve",
  summary:
    "Settle an effect whose outcome is unknown: it happened, with this receipt, or surely did not and may be sent",
  tag: "effects",
  body: {
    receipt: z.string().min(1).max(1_024).optional().describe("It happened, and this is what it is called there"),
    retry: z.literal(true).optional().describe("Nothing had happened: it is sent when its run is rerun"),
    reason: reasonField.optional().describe("How you know; kept with it and in the audit"),
  },
  answer: z.object({ id: z.string(), state: z.enum(["sent", "released"]) }),
  handle: async ({ params, body, engine, audit }) => {
    const { receipt, retry, reason = "" } = body;
    if ((receipt === undefined) === (retry === undefined)) {
      throw errors.REQUEST_INVALID({ why: "it must say receipt or retry, one of them" });
    }
    const id = params.effect!;
    const verdict = receipt === undefined ? "retry" : { receipt };
    const { state } = await effectsApi(async () => engine).resolve(id, verdict, { reason });
    await audit("resolve-effect", id, reason);
    return { id, state };
  },
});
