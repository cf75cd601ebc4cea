// POST /api/keys/:scope/:key/release: a person gives a key back before its window ends. Destination keys stay the same.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { apiRoute } from "../../api/api-route.ts";
import { keyItem, keyItemOf } from "../../api/key-shape.ts";
import { reasonField } from "../../api/reason.ts";

export const releaseKey = apiRoute({
  method: "POST",
  path: "/api/keys/:scope/:key/release",
  summary: "Give a key back: the next event with it starts a run, with the same destination keys",
  tag: "keys",
  body: { reason: reasonField.describe("Why; kept in the audit") },
  answer: z.object({ key: keyItem }),
  handle: async ({ params, body, engine, env, now, actor }) => {
    const scope = params.scope!;
    const key = params.key!;
    const { store } = engine;
    const answer = await store.release({ env, scope, key, fence: null, reason: body.reason, actor: actor.name });
    const claim = answer === "unknown" ? null : await store.reads.claim(env, scope, key);
    if (claim === null) throw errors.KEY_UNKNOWN({ scope, key });
    return { key: keyItemOf(claim, now) };
  },
});
