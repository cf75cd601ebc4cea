// POST /api/doctor: the store as `idem doctor` finds it beside the server.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { storeCommandsOf } from "../../beside/store-commands.ts";
import { ownId, readJsonOf, underWay } from "../../beside/told-by-command.ts";
import { hasOthers } from "../../people/actor.ts";

export const examineStore = apiRoute({
  method: "POST",
  path: "/api/doctor",
  summary:
    "Examine the store: is it sound, does everything move, did anything run twice; ask again with the same id until it is done",
  tag: "server",
  waits: true,
  body: {
    id: ownId,
    days: z.number().int().min(1).max(366).default(7).describe("How far back to look for duplicates"),
    nearMs: z
      .number()
      .int()
      .min(0)
      .max(24 * 60 * 60_000)
      .default(60_000)
      .describe("Runs of one thing this close together are taken for duplicates"),
    report: z.boolean().default(false).describe("With the doubled things and what their runs did, as Markdown and CSV"),
  },
  answer: z.union([
    underWay,
    z.object({ state: z.literal("ended"), examined: z.looseObject({}).describe("What `idem doctor --json` says") }),
  ]),
  handle: async ({ body, env, world, engine, actor }) => {
    const { days, nearMs, report } = body;
    const isOfStore = !(await hasOthers(world, actor, engine.store));
    // An operator's examination of the environment says more, and is another one.
    const id = isOfStore ? body.id : `${body.id} of ${env}`;
    const args = [
      "doctor",
      "--json",
      "--days",
      String(days),
      "--near",
      `${nearMs}ms`,
      ...(report ? ["--report", "-"] : []),
      ...(isOfStore ? [] : ["--environment-only"]),
    ];
    const end = await storeCommandsOf(world).ask(env, id, args, actor);
    if (end === null) return { state: "running" as const };
    return { state: "ended" as const, examined: readJsonOf(end, "idem doctor") as Record<string, unknown> };
  },
});
