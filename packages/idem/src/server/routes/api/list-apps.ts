// GET /api/apps: the apps this server serves, and how their last sync went.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { appItem } from "../../api/app-shape.ts";

export const listApps = apiRoute({
  method: "GET",
  path: "/api/apps",
  summary: "List the apps this server serves",
  tag: "apps",
  answer: z.object({ apps: z.array(appItem) }),
  handle: async ({ world, env }) => ({ apps: (await world.apps.list(env)).map((app) => ({ ...app })) }),
});
