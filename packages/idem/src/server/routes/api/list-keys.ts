// GET /api/keys: who has which key, by scope and then by key.
import { z } from "zod";
import { functionScope } from "../../../model/claim.ts";
import { errors } from "../../../model/errors.ts";
import { apiRoute } from "../../api/api-route.ts";
import { keyLayers } from "../../api/key-layers.ts";
import { findKeys, keyOrders } from "../../api/key-search.ts";
import { keyItem, keyItemOf } from "../../api/key-shape.ts";
import { beforeField, limitField, nextField, partialField } from "../../api/paging.ts";
import { readCursor, writeCursor } from "../../read-input.ts";

export const listKeys = apiRoute({
  method: "GET",
  path: "/api/keys",
  summary: "List keys, by scope and key",
  tag: "keys",
  query: {
    function: z.string().min(1).max(256).optional().describe("Keys of this function"),
    scope: z.string().min(1).max(512).optional().describe('Keys of this scope; "event" for the ids of events'),
    layer: z.enum(keyLayers).optional().describe("Keys of one layer; not beside function or scope"),
    q: z.string().min(1).max(256).optional().describe("Part of the key"),
    order: z
      .enum(keyOrders)
      .optional()
      .describe(
        "Those asked for most, or whose window ends next, among 10,000; with `next`, among the 10,000 after them",
      ),
    before: beforeField,
    limit: limitField,
  },
  answer: z.object({ keys: z.array(keyItem), next: nextField, isPartial: partialField }),
  handle: async ({ query, engine, env, now }) => {
    const { function: fn, layer, q, order, limit, before } = query;
    if ([fn, query.scope, layer].filter((each) => each !== undefined).length > 1) {
      throw errors.REQUEST_INVALID({
        why: 'query parameters "function", "scope" and "layer" say the same thing; give one',
      });
    }
    const [afterScope, afterKey] = before === undefined ? [] : readCursor(before, 2);
    const search = {
      scope: fn === undefined ? query.scope : functionScope(fn),
      layer,
      part: q,
      order,
      after: afterScope === undefined || afterKey === undefined ? undefined : { scope: afterScope, key: afterKey },
      limit,
    };
    const { claims, next, isPartial } = await findKeys(engine.store.reads, env, search, now);
    return {
      keys: claims.map((claim) => keyItemOf(claim, now)),
      next: next === null || next === undefined ? null : writeCursor(next.scope, next.key),
      isPartial,
    };
  },
});
