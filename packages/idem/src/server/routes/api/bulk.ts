// /api/bulk: one act on every run that a filter finds.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { apiRoute } from "../../api/api-route.ts";
import { bulkFilter, bulkItem, bulkItemOf } from "../../api/bulk-shape.ts";
import { reasonField } from "../../api/reason.ts";
import type { BulkFilter } from "../../bulk-filter.ts";
import { bulkOf } from "../../bulk-work.ts";
import { readInstant } from "../../read-input.ts";

/** Of the last days. */
export const listBulk = apiRoute({
  method: "GET",
  path: "/api/bulk",
  summary: "List bulk work, newest first",
  tag: "bulk",
  answer: z.object({ bulk: z.array(bulkItem) }),
  handle: async ({ env, world }) => ({ bulk: (await bulkOf(world).list(env)).map(bulkItemOf) }),
});

/** The caller's id makes it safe to send twice. */
export const startBulk = apiRoute({
  method: "POST",
  path: "/api/bulk",
  summary: "Cancel or rerun every run that fits a filter, in the background",
  tag: "bulk",
  body: {
    id: z.string().min(1).max(128).describe("Yours: the same request again is answered with the work already going on"),
    action: z.enum(["cancel", "rerun"]),
    filter: bulkFilter,
    reason: reasonField.optional().describe("Kept as the error of runs it cancels"),
    dryRun: z.boolean().optional().describe("Only count what it would be about; nothing is done"),
  },
  answer: z.union([
    z.object({ bulk: bulkItem }),
    z.object({
      matchedCount: z.number().int(),
      isAll: z.boolean().describe("False when there are more than were looked at"),
    }),
  ]),
  handle: async ({ body, engine, env, now, world, actor }) => {
    const { id, action, reason, dryRun, ...asked } = body;
    const filter = await filterOf(engine, body.filter, now);
    if (dryRun === true) {
      const { matched, isAll } = await bulkOf(world).count(env, { action, filter });
      return { matchedCount: matched, isAll };
    }
    const request = { id, action, filter, reason: reason ?? "cancelled together with others", actor: actor.name };
    const progress = await bulkOf(world).start(env, {
      ...request,
      asked: { ...asked, action, reason: reason ?? null },
    });
    return { bulk: bulkItemOf(progress) };
  },
});

export const readBulk = apiRoute({
  method: "GET",
  path: "/api/bulk/:bulk",
  summary: "Read how far bulk work is",
  tag: "bulk",
  answer: z.object({ bulk: bulkItem }),
  handle: async ({ params, env, world }) => ({ bulk: bulkItemOf(await bulkOf(world).read(env, params.bulk!)) }),
});

export const stopBulk = apiRoute({
  method: "POST",
  path: "/api/bulk/:bulk/cancel",
  summary: "Stop bulk work; what is done stays done",
  tag: "bulk",
  answer: z.object({ bulk: bulkItem }),
  handle: async ({ params, env, world, actor }) => ({
    bulk: bulkItemOf(await bulkOf(world).cancel(env, params.bulk!, { actor: actor.name })),
  }),
});

async function filterOf(engine: Engine, given: z.infer<typeof bulkFilter>, now: number): Promise<BulkFilter> {
  const { function: fn, state, key, event, since, until } = given;
  // Said now, where somebody listens.
  if (since !== undefined) readInstant("since", since, now);
  if (until !== undefined) readInstant("until", until, now);
  if (given.if !== undefined) engine.expressions.get(given.if);
  return {
    ...(fn === undefined ? {} : { fn }),
    ...(state === undefined ? {} : { state }),
    ...(key === undefined ? {} : { key: await functionKeyOf(engine.store.reads, engine.env, fn!, key) }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(given.if === undefined ? {} : { if: given.if }),
  };
}
