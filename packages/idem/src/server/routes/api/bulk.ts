// /api/bulk: one act on every run that a filter finds.
import { z } from "zod";
import { bulkActions } from "../../../engine/bulk/left-out.ts";
import type { Engine } from "../../../engine/engine.ts";
import { compileRunFilter } from "../../../model/expression.ts";
import { isUlid } from "../../../model/ulid.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { apiRoute } from "../../api/api-route.ts";
import { bulkFilter, bulkItem, bulkItemOf, leftOutItem } from "../../api/bulk-shape.ts";
import { reasonField } from "../../api/reason.ts";
import type { BulkFilter } from "../../bulk-progress.ts";
import { bulkOf } from "../../bulk-work.ts";
import { endedRange } from "../../groups/ends.ts";
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
  summary: "Rerun, cancel or release every run that fits a filter, in the background",
  tag: "bulk",
  body: {
    id: z.string().min(1).max(128).describe("Yours: the same request again is answered with the work already going on"),
    action: z
      .enum(bulkActions)
      .describe("`release` lets parked runs go on, `release-keys` gives back the function keys that ended runs hold"),
    filter: bulkFilter,
    reason: reasonField.optional().describe("Kept as the error of runs it cancels"),
    pace: z.number().int().min(1).max(1_000).optional().describe("How many runs a second at most"),
    dryRun: z.boolean().optional().describe("Only count what it would be about; nothing is done"),
  },
  answer: z.union([
    z.object({ bulk: bulkItem }),
    z.object({
      matchedCount: z.number().int(),
      willCount: z.number().int().describe("How many of them it would be done to"),
      leftOut: leftOutItem,
      oldestAt: z.number().int().nullable().describe("When the oldest of them was opened"),
      countedAt: z.number().int(),
      isAll: z.boolean().describe("False when there are more than were looked at"),
    }),
  ]),
  handle: async ({ body, engine, env, now, world, actor }) => {
    const { id, action, reason, dryRun, pace, ...asked } = body;
    const filter = await filterOf(engine, body.filter, now);
    if (dryRun === true) {
      const {
        matchedCount,
        doneCount,
        oldestAt,
        isAll,
        now: at,
        ...counted
      } = await bulkOf(world).count(env, {
        id,
        action,
        filter,
      });
      const leftOut = counted.leftOut.map(({ runIds, ...each }) => ({ ...each, runIds: [...runIds] }));
      return { matchedCount, willCount: doneCount, leftOut, oldestAt, countedAt: at, isAll };
    }
    const said = reason ?? (action === "cancel" ? "cancelled together with others" : "together with others");
    const request = { id, action, filter, reason: said, pace: pace ?? null, actor: actor.name };
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
  const { function: fn, state, key, event, since, until, runs, q } = given;
  // Refused now, while the asker listens.
  if (since !== undefined) readInstant("since", since, now);
  if (until !== undefined) readInstant("until", until, now);
  if (given.if !== undefined) compileRunFilter(given.if);
  const { reads } = engine.store;
  const { endedSince, endedUntil } = given;
  // The same stretch as the list that people saw, and none of what was created before the oldest that ended in it. Where nothing did, none fits.
  const { bounds } = await endedRange(reads, engine.env, { endedSince, endedUntil, since, until, fn, state }, now);
  const { since: oldest, until: newest, ...stretch } = bounds ?? { endedSince: now + 1 };
  const created = {
    since: oldest === undefined ? since : new Date(oldest).toISOString(),
    until: newest === undefined ? until : new Date(newest).toISOString(),
  };
  return {
    ...stretch,
    ...(fn === undefined ? {} : { fn }),
    ...(state === undefined ? {} : { state }),
    ...(key === undefined ? {} : { key: await functionKeyOf(reads, engine.env, fn!, key) }),
    ...(event === undefined ? {} : isUlid(event) ? { eventId: event } : { eventName: event }),
    ...(runs === undefined ? {} : { ids: runs }),
    ...(q === undefined ? {} : { q }),
    ...(created.since === undefined ? {} : { since: created.since }),
    ...(created.until === undefined ? {} : { until: created.until }),
    ...(given.if === undefined ? {} : { if: given.if }),
  };
}
