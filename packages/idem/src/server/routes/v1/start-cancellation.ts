// POST /v1/cancellations: cancels the open runs of a function that were opened in a time and, perhaps, whose event fits an
// expression. It is about the runs there are now; progress is at /v1/cancellations and /api/bulk.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { functionSlug } from "../../../model/function-config.ts";
import { makeUlid } from "../../../model/ulid.ts";
import { restCancellation } from "../../../protocol/rest-shapes.ts";
import { bulkOf } from "../../bulk-work.ts";
import { cancellationOf } from "../../cancellation.ts";
import { instantText, readInstant } from "../../read-input.ts";
import { v1Route } from "../../v1-route.ts";

export const startCancellation = v1Route({
  method: "POST",
  path: "/v1/cancellations",
  body: {
    app_id: z.string().min(1).max(256),
    function_id: z.string().min(1).max(256),
    started_before: instantText,
    started_after: instantText.nullish(),
    if: z.string().min(1).max(4_096).nullish(),
  },
  handle: async ({ body, engine, env, now, world, actor }) => {
    const { app_id: app, function_id: id, started_before: until, started_after: since, if: expression } = body;
    const { registry } = engine;
    const target = registry.get(functionSlug(app, id)) ?? registry.get(id);
    if (target === null || target.app !== app) throw errors.FUNCTION_UNKNOWN({ function: functionSlug(app, id) });
    readInstant("started_before", until, now);
    if (since != null) readInstant("started_after", since, now);
    const { platform } = world;
    const progress = await bulkOf(world).start(env, {
      id: makeUlid(Math.floor(platform.wallMs()), platform.randomBytes(10)),
      action: "cancel",
      filter: {
        fn: target.fn,
        until,
        ...(since == null ? {} : { since }),
        ...(expression == null ? {} : { if: expression }),
      },
      reason: "cancelled together with others",
      asked: body,
      actor,
    });
    return restCancellation(cancellationOf(progress, engine), env);
  },
});
