// GET /api/keys: who has which key, by scope and then by key.
import { z } from "zod";
import { functionScope } from "../../model/claim.ts";
import { errors } from "../../model/errors.ts";
import { apiRoute } from "../api/api-route.ts";
import { keyItem, keyItemOf } from "../api/key-shape.ts";
import { beforeField, limitField, nextField } from "../api/paging.ts";
import { readCursor, writeCursor } from "../read-input.ts";

export const listKeys = apiRoute({
  method: "GET",
  path: "/api/keys",
  summary: "List keys, by scope and key",
  tag: "keys",
  query: {
    function: z.string().min(1).max(256).optional().describe("Keys of this function"),
    scope: z.string().min(1).max(512).optional().describe('Keys of this scope; "event" for the ids of events'),
    before: beforeField,
    limit: limitField,
  },
  answer: z.object({ keys: z.array(keyItem), next: nextField }),
  handle: async ({ query, engine, env, now }) => {
    const { function: fn, limit, before } = query;
    if (fn !== undefined && query.scope !== undefined) {
      throw errors.REQUEST_INVALID({ why: 'query parameters "function" and "scope" say the same thing; give one' });
    }
    const scope = fn === undefined ? query.scope : functionScope(fn);
    const [afterScope, afterKey] = before === undefined ? [] : readCursor(before, 2);
    const claims = await engine.store.reads.claims(env, {
      limit,
      ...(scope === undefined ? {} : { scope }),
      ...(afterScope === undefined || afterKey === undefined ? {} : { after: { scope: afterScope, key: afterKey } }),
    });
    const last = claims.length < limit ? undefined : claims.at(-1);
    return {
      keys: claims.map((claim) => keyItemOf(claim, now)),
      next: last === undefined ? null : writeCursor(last.scope, last.key),
    };
  },
});
