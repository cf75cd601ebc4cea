// POST /api/prune: old history is deleted, a page of rows with each request; or only counted.
import { z } from "zod";
import { limits } from "../../../engine/limits.ts";
import { type PruneCounts, prunedNothing, pruneEntry } from "../../../store/prune.ts";
import { apiRoute } from "../../api/api-route.ts";
import { storeCommandsOf } from "../../beside/store-commands.ts";
import { ownId, readJsonOf, underWay } from "../../beside/told-by-command.ts";

const tag = "history";
const instant = z.number().int().min(0);
const counts = z.object(
  Object.fromEntries(Object.keys(prunedNothing).map((name) => [name, z.number().int()])) as {
    [Name in keyof PruneCounts]: z.ZodNumber;
  },
);
const pruned = {
  deleted: counts.describe("Rows by what they are"),
  kept: z.number().int().describe("Events that are old enough and still needed"),
};

export const pruneHistory = apiRoute({
  method: "POST",
  path: "/api/prune",
  summary:
    "Delete a page of old events with their ended runs, steps and decisions; ask again with `after` until it is null",
  tag,
  body: {
    before: instant.describe("Events received, and runs ended, before this instant"),
    after: z.string().max(64).default("").describe("What the page before answered; empty for the first"),
    auditBefore: instant.optional().describe("Entries of the audit from before this go as well; at least a year ago"),
  },
  answer: z.object({ ...pruned, after: z.string().nullable().describe("Null when nothing older is left") }),
  handle: async ({ body, engine, env, now, actor }) => {
    const { after } = body;
    const before = Math.min(body.before, now);
    const auditBefore =
      body.auditBefore === undefined ? undefined : Math.min(body.auditBefore, now - limits.auditKeptMsMin);
    // Kept before anything goes, once for all pages.
    if (after === "") await engine.store.audit({ ...pruneEntry(env, before), actor: actor.name });
    const answer = await engine.store.prune({
      env,
      before,
      after,
      max: limits.pruneRowsMax,
      ...(auditBefore === undefined ? {} : { auditBefore }),
    });
    return { deleted: { ...answer.deleted }, kept: answer.kept, after: answer.after };
  },
});

export const countHistory = apiRoute({
  method: "POST",
  path: "/api/prune/count",
  summary: "Count what pruning would delete; ask again with the same id until it is counted",
  tag,
  waits: true,
  body: { id: ownId, olderThanMs: z.number().int().min(0).max(limits.retentionMsMax) },
  answer: z.union([underWay, z.object({ state: z.literal("ended"), before: z.number().int(), ...pruned })]),
  handle: async ({ body, env, world, actor }) => {
    const args = ["prune", "--dry-run", "--json", "--older-than", `${body.olderThanMs}ms`];
    const end = await storeCommandsOf(world).ask(env, body.id, args, actor);
    if (end === null) return { state: "running" as const };
    const { before, deleted, kept } = readJsonOf(end, "idem prune") as PrunedJson;
    return { state: "ended" as const, before, deleted, kept };
  },
});

interface PrunedJson {
  readonly before: number;
  readonly deleted: { -readonly [Name in keyof PruneCounts]: number };
  readonly kept: number;
}
