// /api/backup: one moment of a SQLite store, made by `idem backup` beside the server and fetched in parts.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import type { Store } from "../../../store/store.ts";
import { apiRoute } from "../../api/api-route.ts";
import { partBytesMax } from "../../api/backup-bounds.ts";
import { snapshotsOf } from "../../beside/snapshots.ts";
import { ownId, underWay } from "../../beside/told-by-command.ts";
import { type Actor, hasOthers } from "../../people/actor.ts";
import type { World } from "../../world.ts";

const tag = "server";

export const makeBackup = apiRoute({
  method: "POST",
  path: "/api/backup",
  summary:
    "Make a copy of the SQLite store, checked, to be fetched in parts; ask again with the same id until it is made",
  tag,
  waits: true,
  body: { id: ownId },
  answer: z.union([
    underWay,
    z.object({ state: z.literal("ended"), bytes: z.number().int(), store: z.string(), sha256: z.string() }),
  ]),
  handle: async ({ body, env, world, engine, actor, audit }) => {
    await checkAllSeen(world, actor, engine.store);
    const made = await snapshotsOf(world).make(env, body.id, () =>
      audit("take-backup", world.settings.store.replace(/^sqlite:/, "")),
    );
    return made === null ? { state: "running" as const } : { state: "ended" as const, ...made };
  },
});

export const readBackup = apiRoute({
  method: "POST",
  path: "/api/backup/:backup",
  summary: "Fetch a part of a copy that was made; the answer to its last byte lets go of it a minute later",
  tag,
  body: { offset: z.number().int().min(0) },
  answer: z.object({
    part: z.string().describe(`Base64 of at most ${partBytesMax} bytes`),
    next: z.number().int().nullable().describe("Where the next part begins; null after the last"),
  }),
  handle: async ({ params, body, world, engine, actor }) => {
    await checkAllSeen(world, actor, engine.store);
    return snapshotsOf(world).read(params.backup!, body.offset);
  },
});

/** A copy has every environment: a signing key is of one. */
async function checkAllSeen(world: World, actor: Actor, store: Store): Promise<void> {
  if (await hasOthers(world, actor, store)) throw errors.BACKUP_OF_OTHERS({ env: actor.onlyEnv! });
}
