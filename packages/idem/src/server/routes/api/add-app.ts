// POST /api/apps: a person names an app's URL; it is asked for its functions and they are registered.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { appItem } from "../../api/app-shape.ts";
import { syncApp } from "../../sync-app.ts";

export const addApp = apiRoute({
  method: "POST",
  path: "/api/apps",
  summary: "Ask an app for its functions and register them",
  tag: "apps",
  body: {
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .describe("Its serve URL"),
  },
  answer: z.object({
    modified: z.boolean().describe("False when its functions were registered already"),
    app: appItem.nullable().describe("Null when it registered by itself, under a URL of its own choosing"),
  }),
  handle: async ({ body, env, world, signal, audit }) => {
    const { app, modified } = await syncApp(world, env, body.url, { signal });
    if (modified) await audit("add-app", body.url);
    const added = app === null ? undefined : (await world.apps.list(env)).find((each) => each.app === app);
    return { modified, app: added === undefined ? null : { ...added } };
  },
});
