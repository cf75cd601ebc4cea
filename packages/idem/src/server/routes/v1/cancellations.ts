// /v1/cancellations: bulk cancels, as the official SDK asks for them.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { errors } from "../../../model/errors.ts";
import { functionSlug } from "../../../model/function-config.ts";
import { shownApp } from "../../../model/function-names.ts";
import { makeUlid } from "../../../model/ulid.ts";
import { type RestCancellation, restCancellation } from "../../../protocol/rest-shapes.ts";
import type { BulkProgress } from "../../bulk-progress.ts";
import { bulkOf } from "../../bulk-work.ts";
import { instantText, readInstant } from "../../read-input.ts";
import { v1Route } from "../../v1-route.ts";

/** Of the last days, newest first. */
export const listCancellations = v1Route({
  method: "GET",
  path: "/v1/cancellations",
  handle: async ({ engine, env, world }) =>
    (await bulkOf(world).list(env))
      .filter(({ action }) => action === "cancel")
      .map((progress) => restCancellation(cancellationOf(progress, engine), env)),
});

/**
 * Cancels the open runs of a function that were opened in a time and, perhaps, whose event fits an expression. It is about the runs there
 * are now; progress is at /v1/cancellations and /api/bulk.
 */
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
    if (target === null || (target.app !== app && shownApp(target) !== app)) {
      throw errors.FUNCTION_UNKNOWN({ function: functionSlug(app, id) });
    }
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

/** Nothing more is cancelled; what is stays so. */
export const stopCancellation = v1Route({
  method: "DELETE",
  path: "/v1/cancellations/:cancellation",
  handle: async ({ params, env, world, actor }) => {
    await bulkOf(world).cancel(env, params.cancellation!, { actor });
    return undefined;
  },
});

function cancellationOf(progress: BulkProgress, { registry }: Pick<Engine, "registry">): RestCancellation {
  const { filter, startedAt } = progress;
  const target = filter.fn === undefined ? null : registry.get(filter.fn);
  const instant = (text: string | undefined) => (text === undefined ? null : readInstant("filter", text, startedAt));
  return {
    id: progress.id,
    app: target === null ? null : shownApp(target),
    functionId: target?.config.id ?? filter.fn ?? null,
    startedAfter: instant(filter.since),
    startedBefore: instant(filter.until),
    if: filter.if ?? null,
    createdAt: startedAt,
    state: progress.state,
    cancelledCount: progress.doneCount,
  };
}
