// GET /api/workers: who works on this store.
import { z } from "zod";
import { nodeRoles } from "../../../store/sharing.ts";
import { apiRoute } from "../../api/api-route.ts";

export const listWorkers = apiRoute({
  method: "GET",
  path: "/api/workers",
  summary: "List the workers of all nodes over this store, with role, version, heartbeat and leases",
  tag: "server",
  answer: z.object({
    now: z.number().int(),
    workers: z.array(
      z.object({
        id: z.string(),
        node: z.string().nullable().describe("Null for a process that said nothing about itself"),
        role: z.enum(nodeRoles).nullable(),
        version: z.string().nullable(),
        state: z
          .enum(["alive", "silent", "gone"])
          .describe("`silent`: its lease is over and nobody has swept up after it yet"),
        startedAt: z.number().int(),
        beatAt: z.number().int().nullable(),
        leased: z.number().int().describe("Runs it holds, in all environments; for a signing key, in its own"),
      }),
    ),
    isShared: z.boolean().describe("False for a store that one process owns"),
  }),
  handle: async ({ engine, now, actor }) => ({
    now,
    isShared: engine.store.shared !== null,
    workers: (await engine.store.reads.workers(actor.onlyEnv ?? undefined)).map(
      ({ id, node, role, version, startedAt, beatAt, until, isDead, leased }) => ({
        id,
        node,
        role,
        version,
        state: isDead ? ("gone" as const) : until < now ? ("silent" as const) : ("alive" as const),
        startedAt,
        beatAt,
        leased,
      }),
    ),
  }),
});
